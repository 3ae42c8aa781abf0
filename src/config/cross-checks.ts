import type { Config } from './config.js'
import { isLoopback, parseListenAddress } from './sections/listen-address.js'

/** A rule that several keys must keep together. */
export interface CrossCheck {
  readonly code: string
  /** The keys that the rule reads; the first is the one to blame. */
  readonly paths: readonly (readonly [string, ...string[]])[]
  /** What is wrong, or undefined. */
  readonly check: (config: Config) => string | undefined
}

const SHOWN_HASH_DIGITS = 16

/** All rules across keys. */
export const crossChecks: readonly CrossCheck[] = [
  {
    code: 'open_to_everyone',
    paths: [
      ['server', 'addr'],
      ['server', 'insecure'],
      ['auth', 'tokens'],
    ],
    check: ({ server, auth }) => {
      const address = parseListenAddress(server.addr)
      if (address === undefined || isLoopback(address.host) || server.insecure || auth.tokens.length > 0)
        return undefined
      return `${server.addr} can be reached from other machines: list who may call in auth.tokens (\`tidegate hash-token\` helps), or set server.insecure: true (--insecure) to let everyone in`
    },
  },
  {
    code: 'duplicate_name',
    paths: [['auth', 'tokens']],
    check: ({ auth }) =>
      repeated(
        'the name',
        auth.tokens.map(({ name }) => name),
      ),
  },
  {
    code: 'duplicate_token',
    paths: [['auth', 'tokens']],
    check: ({ auth }) =>
      repeated(
        'the sha256',
        auth.tokens.map(({ sha256 }) => `${sha256.slice(0, SHOWN_HASH_DIGITS)}…`),
      ),
  },
  {
    code: 'duplicate_name',
    paths: [['connectors', 'accounts']],
    check: ({ connectors }) =>
      repeated(
        'the name',
        connectors.accounts.map(({ name }) => name),
      ),
  },
  {
    code: 'misplaced_placeholder',
    paths: [['connectors', 'accounts']],
    check: ({ connectors }) => {
      const wrong = connectors.accounts.filter(({ type, url }) => type !== 'http' && /[{?#]/.test(url))
      if (wrong.length === 0) return undefined
      const names = wrong.map(({ name }) => name).join(', ')
      return `placeholders and queries in a URL are for type http only: ${names}`
    },
  },
  {
    code: 'duplicate_name',
    paths: [['analysis', 'sources']],
    check: ({ analysis }) =>
      repeated(
        'the name',
        analysis.sources.map(({ name }) => name),
      ),
  },
  {
    code: 'duplicate_id',
    paths: [['gates', 'definitions']],
    check: ({ gates }) =>
      repeated(
        'the id',
        gates.definitions.map(({ id }) => String(id)),
      ),
  },
  {
    code: 'unknown_approver',
    paths: [
      ['gates', 'definitions'],
      ['auth', 'tokens'],
    ],
    check: ({ gates, auth }) => {
      // Without tokens people are only claimed, under any name.
      if (auth.tokens.length === 0) return undefined
      const users = new Set(auth.tokens.map(({ name }) => name))
      const groups = new Set(auth.tokens.flatMap((token) => token.groups))
      const unknown = gates.definitions.flatMap(({ name, approvers }) => [
        ...approvers.users.filter((user) => !users.has(user)).map((user) => `user ${user} of ${name}`),
        ...approvers.groups.filter((group) => !groups.has(group)).map((group) => `group ${group} of ${name}`),
      ])
      if (unknown.length === 0) return undefined
      return `no token of auth.tokens is the approver ${unknown.join(', ')}: nobody could decide as one`
    },
  },
  {
    code: 'not_on_postgres',
    paths: [
      ['audit', 'maxBytes'],
      ['store', 'url'],
    ],
    check: ({ audit, store }) =>
      store.url === undefined || audit.maxBytes === undefined
        ? undefined
        : 'a PostgreSQL does not tell how much of its space is in use: bound the trail by audit.maxAgeDays',
  },
  {
    code: 'half_a_certificate',
    paths: [
      ['store', 'tlsCertificate'],
      ['store', 'tlsKey'],
    ],
    check: ({ store }) =>
      (store.tlsCertificate === undefined) === (store.tlsKey === undefined)
        ? undefined
        : 'store.tlsCertificate and store.tlsKey go together: set both or none',
  },
  {
    code: 'no_policies',
    paths: [
      ['policies', 'directories'],
      ['policies', 'bundles'],
    ],
    check: ({ policies }) =>
      policies.directories.length + policies.bundles.length > 0
        ? undefined
        : 'there is nothing to load: name a directory of Rego here, or a bundle in policies.bundles',
  },
]

function repeated(what: string, values: readonly string[]): string | undefined {
  const twice = [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
  return twice.length === 0 ? undefined : `${what} ${twice.join(', ')} is there more than once`
}
