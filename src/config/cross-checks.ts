import { missingApprovers } from './sections/gates.js'
import { isLocalAddress } from './sections/listen-address.js'
import { servedAddresses } from './sections/served-addresses.js'
import { hasOneAccess } from './sections/sign-in/aws.js'
import { hasOneAccount } from './sections/sign-in/google.js'
import type { Config } from './config.js'

/** A rule that several keys must keep together. */
interface CrossCheck {
  readonly code: string
  /** The keys that the rule reads; the first is the one to blame. */
  readonly paths: readonly (readonly [string, ...string[]])[]
  /** What is wrong, or undefined. */
  readonly check: (config: Config) => string | undefined
}

/** What the keys about TLS and addresses must keep together. */
const tlsChecks: readonly CrossCheck[] = [
  certificatePair('server'),
  {
    code: 'no_certificate',
    paths: [
      ['server', 'addresses'],
      ['server', 'tlsCertificate'],
      ['server', 'tlsClientCa'],
    ],
    check: ({ server }) => {
      if (server.tlsCertificate !== undefined) return undefined
      const needing = server.addresses.filter(({ tls }) => tls === true).map(({ addr }) => addr)
      const wanted = [...needing, ...(server.tlsClientCa === undefined ? [] : ['server.tlsClientCa'])]
      return wanted.length === 0
        ? undefined
        : `TLS needs server.tlsCertificate and server.tlsKey: ${wanted.join(', ')}`
    },
  },
  {
    code: 'no_client_authority',
    paths: [
      ['auth', 'certificates'],
      ['server', 'tlsRequireClient'],
      ['server', 'tlsClientCrl'],
      ['server', 'tlsClientCa'],
    ],
    check: ({ server, auth }) => {
      if (server.tlsClientCa !== undefined) return undefined
      const wanted = [
        ...(auth.certificates.length > 0 ? ['auth.certificates'] : []),
        ...(server.tlsRequireClient ? ['server.tlsRequireClient'] : []),
        ...(server.tlsClientCrl === undefined ? [] : ['server.tlsClientCrl']),
      ]
      return wanted.length === 0
        ? undefined
        : `certificates of callers are checked against server.tlsClientCa, which is not set: ${wanted.join(', ')}`
    },
  },
  {
    code: 'duplicate_address',
    paths: [
      ['server', 'addresses'],
      ['server', 'addr'],
    ],
    check: ({ server }) => {
      const texts = servedAddresses(server)
        .filter(({ address }) => 'path' in address || address.port !== 0)
        .map(({ address }) => ('path' in address ? address.path : `${address.host}:${address.port}`))
      const twice = texts.filter((text, index) => texts.indexOf(text) !== index)
      return twice.length === 0 ? undefined : `an address is there more than once: ${twice.join(', ')}`
    },
  },
]

const SHOWN_HASH_DIGITS = 16

/** All rules across keys. */
export const crossChecks: readonly CrossCheck[] = [
  {
    code: 'open_to_everyone',
    paths: [
      ['server', 'addr'],
      ['server', 'addresses'],
      ['server', 'insecure'],
      ['auth', 'tokens'],
      ['auth', 'certificates'],
    ],
    check: ({ server, auth }) => {
      if (server.insecure || auth.tokens.length + auth.certificates.length > 0) return undefined
      const open = servedAddresses(server).find(
        ({ address, serves }) => serves === 'all' && !isLocalAddress(address),
      )
      if (open === undefined) return undefined
      return `${open.text} can be reached from other machines: list who may call in auth.tokens (\`tidegate hash-token\` helps), or set server.insecure: true (--insecure) to let everyone in`
    },
  },
  ...tlsChecks,
  {
    code: 'duplicate_name',
    paths: [
      ['auth', 'tokens'],
      ['auth', 'certificates'],
    ],
    check: ({ auth }) =>
      repeated(
        'the name',
        [...auth.tokens, ...auth.certificates].map(({ name }) => name),
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
    code: 'missing_approvers',
    paths: [['gates', 'definitions']],
    check: ({ gates }) => {
      const problems = gates.definitions.flatMap((gate) => {
        const missing = missingApprovers(gate)
        return missing === undefined ? [] : [`gate ${gate.id}: ${missing}`]
      })
      return problems.length === 0 ? undefined : problems.join('; ')
    },
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
    code: 'one_access_key',
    paths: [['analysis', 'sources']],
    check: ({ analysis: { sources } }) =>
      problemWith(
        'a source of Amazon has either accessKeyId and secretAccessKey or accessKeyFrom',
        sources.filter((source) => !hasOneAccess(source)),
      ),
  },
  {
    code: 'one_service_account',
    paths: [['analysis', 'sources']],
    check: ({ analysis: { sources } }) =>
      problemWith(
        'a source of Google has either serviceAccount or serviceAccountFrom and project',
        sources.filter((source) => !hasOneAccount(source)),
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
      ['auth', 'certificates'],
    ],
    check: ({ gates, auth }) => {
      // Without tokens people are only claimed, under any name.
      const bearers = [...auth.tokens, ...auth.certificates]
      if (bearers.length === 0) return undefined
      const users = new Set(bearers.map(({ name }) => name))
      const groups = new Set(bearers.flatMap((bearer) => bearer.groups))
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
  certificatePair('store'),
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

function problemWith(problem: string, sources: readonly { readonly name: string }[]): string | undefined {
  return sources.length === 0 ? undefined : `${problem}: see ${sources.map(({ name }) => name).join(', ')}`
}

function repeated(what: string, values: readonly string[]): string | undefined {
  const twice = [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
  return twice.length === 0 ? undefined : `${what} ${twice.join(', ')} is there more than once`
}

/** A certificate and its key are set both or not at all. */
function certificatePair(section: 'server' | 'store'): CrossCheck {
  const problem = `${section}.tlsCertificate and ${section}.tlsKey go together: set both or none`
  return {
    code: 'half_a_certificate',
    paths: [
      [section, 'tlsCertificate'],
      [section, 'tlsKey'],
    ],
    check: ({ [section]: { tlsCertificate, tlsKey } }) =>
      (tlsCertificate === undefined) === (tlsKey === undefined) ? undefined : problem,
  }
}
