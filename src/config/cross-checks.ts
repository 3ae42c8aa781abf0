import { hasAccounts, requiresCredentials } from './sections/auth.js'
import { missingApprovers } from './sections/gates.js'
import { isLocalAddress } from './sections/listen-address.js'
import { servedAddresses } from './sections/served-addresses.js'
import { hasOneAccess } from './sections/sign-in/aws.js'
import { hasOneAccount } from './sections/sign-in/google.js'
import { notificationChecks, repeated, sinkChecks, sourceChecks } from './listed-checks.js'
import type { CrossCheck } from './listed-checks.js'

/** Rules about TLS and addresses. */
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
    code: 'no_public_url',
    paths: [
      ['auth', 'oidc'],
      ['server', 'publicUrl'],
    ],
    check: ({ auth, server }) =>
      auth.oidc === undefined || server.publicUrl !== undefined
        ? undefined
        : 'the identity provider sends browsers back to server.publicUrl: set it to the https URL of this service',
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
        : `client certificates need server.tlsClientCa, which is not set: ${wanted.join(', ')}`
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
      return twice.length === 0 ? undefined : `repeated addresses: ${twice.join(', ')}`
    },
  },
]

const SHOWN_HASH_DIGITS = 16

export const crossChecks: readonly CrossCheck[] = [
  {
    code: 'no_decisions',
    paths: [
      ['policies', 'staged'],
      ['decisions', 'enabled'],
    ],
    check: ({ policies, decisions }) =>
      policies.staged.sharePercent === 0 || decisions.enabled
        ? undefined
        : 'policies.staged compares stored decisions: set decisions.enabled, or policies.staged.sharePercent to 0',
  },
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
      if (server.insecure || requiresCredentials(auth)) return undefined
      const open = servedAddresses(server).find(
        ({ address, serves }) => serves === 'all' && !isLocalAddress(address),
      )
      if (open === undefined) return undefined
      return `${open.text} is reachable from other machines: add tokens to auth.tokens (see \`tidegate hash-token\`), or set server.insecure: true (--insecure) to allow everyone`
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
        'an Amazon source needs either accessKeyId and secretAccessKey, or accessKeyFrom',
        sources.filter((source) => !hasOneAccess(source)),
      ),
  },
  {
    code: 'one_service_account',
    paths: [['analysis', 'sources']],
    check: ({ analysis: { sources } }) =>
      problemWith(
        'a Google source needs either serviceAccount, or serviceAccountFrom and project',
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
      // Without tokens, callers may claim any name; with accounts elsewhere, names are unknown here.
      const bearers = [...auth.tokens, ...auth.certificates]
      if (bearers.length === 0 || hasAccounts(auth)) return undefined
      const users = new Set(bearers.map(({ name }) => name))
      const groups = new Set(bearers.flatMap((bearer) => bearer.groups))
      const unknown = gates.definitions.flatMap(({ name, approvers }) => [
        ...approvers.users.filter((user) => !users.has(user)).map((user) => `user ${user} of ${name}`),
        ...approvers.groups.filter((group) => !groups.has(group)).map((group) => `group ${group} of ${name}`),
      ])
      if (unknown.length === 0) return undefined
      return `no token in auth.tokens belongs to the approver ${unknown.join(', ')}`
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
        : 'audit.maxBytes does not work with PostgreSQL: use audit.maxAgeDays',
  },
  certificatePair('store'),
  {
    code: 'no_policies',
    paths: [
      ['policies', 'directories'],
      ['policies', 'bundles'],
      ['policies', 'sources'],
    ],
    check: ({ policies }) =>
      policies.directories.length + policies.bundles.length + policies.sources.length > 0 ||
      policies.opaConfig !== undefined ||
      policies.writable
        ? undefined
        : 'there is nothing to load: add a directory of Rego here, a bundle to policies.bundles, or a server to policies.sources',
  },
  ...sourceChecks,
  ...sinkChecks,
  ...notificationChecks,
]

function problemWith(problem: string, sources: readonly { readonly name: string }[]): string | undefined {
  return sources.length === 0 ? undefined : `${problem}: see ${sources.map(({ name }) => name).join(', ')}`
}

/** A certificate and its key must be set together. */
function certificatePair(section: 'server' | 'store'): CrossCheck {
  const problem = `${section}.tlsCertificate and ${section}.tlsKey must be set together`
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
