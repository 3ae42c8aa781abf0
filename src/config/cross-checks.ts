import { certificatePair } from './cross-check.js'
import type { CrossCheck } from './cross-check.js'
import { missingApprovers } from './sections/gates.js'
import { isLocalAddress } from './sections/listen-address.js'
import { servedAddresses } from './sections/served-addresses.js'
import { hasOneAccess } from './sections/sign-in/aws.js'
import { hasOneAccount } from './sections/sign-in/google.js'
import { tlsChecks } from './tls-checks.js'

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
