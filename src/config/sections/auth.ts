import { z } from 'zod'

import { parseSubject } from '../values/certificate-subject.js'
import { booleanKey, key } from '../values/key.js'
import { ROLES } from './roles.js'
import { ProviderSection, ProxySection } from './sign-on.js'

/** The identity and roles of a credential. */
const bearer = {
  name: key(
    z.string().regex(/^\S(?:.{0,98}\S)?$/),
    'Name of the user of the token or certificate, for the logs.',
    'a name of 1 to 100 characters that neither starts nor ends with a space',
  ),
  roles: key(
    z.array(key(z.enum(ROLES), 'A role.', `one of ${ROLES.join(', ')}`)).min(1),
    'Roles of the bearer.',
    `a list of at least one of ${ROLES.join(', ')}`,
  ),
  groups: key(
    z.array(z.string().min(1)).default([]),
    'The groups that the bearer belongs to, for the approvers of gates.',
    'a list of names',
  ),
}

const Token = z.strictObject({
  ...bearer,
  sha256: key(
    z
      .string()
      .regex(/^[0-9a-f]{64}$/i)
      .toLowerCase(),
    'The SHA-256 of the token.',
    'the 64 hex digits of the SHA-256 of the token: `tidegate hash-token` prints them',
  ),
})

const Certificate = z
  .strictObject({
    ...bearer,
    subject: key(
      z
        .string()
        .refine((text) => parseSubject(text) !== undefined)
        .optional(),
      'Parts of the subject of the certificate. Each part listed here must have exactly this value. A comma in a value is written `\\,`.',
      'parts such as CN=echo, O=Example',
    ),
    san: key(
      z
        .string()
        .regex(/^(?:DNS|URI|email|IP):\S+$/)
        .optional(),
      'One of the alternative names of the certificate.',
      'DNS:NAME, URI:URI, email:ADDRESS or IP:ADDRESS',
    ),
  })
  .refine(({ subject, san }) => subject !== undefined || san !== undefined)

/** Credentials of callers. */
export const AuthSection = z.strictObject({
  tokens: key(
    z.array(Token).default([]),
    'Bearer tokens, each `{name, roles, sha256}` and, for approvers of gates, `groups`. Roles are `orchestrator`, `approver`, `auditor`, `author` (compares policies with those that serve) and `admin`. `tidegate hash-token` prints the hash. The tokens themselves are not stored.',
    'a list of {name, roles, sha256}',
  ),
  certificates: key(
    z
      .array(
        key(
          Certificate,
          'A certificate.',
          '{name, roles, subject} or {name, roles, san}, with at least one of subject and san',
        ),
      )
      .default([]),
    'Client certificates that replace a token, each `{name, roles, subject, san}` and, for approvers of gates, `groups`. `subject` such as `CN=echo, O=Example` is the whole subject of the certificate, with its parts in any order. `san` is an alternative name such as `DNS:echo.spinnaker` or `URI:spiffe://…`. If both are set, both must match. The first matching entry applies. `server.tlsClientCa` must have signed the certificate.',
    'a list of {name, roles, subject, san}',
  ),
  oidc: ProviderSection.optional(),
  proxy: ProxySection.optional(),
  openToOrchestrator: booleanKey(
    false,
    "Whether requests without a token have the role `orchestrator`, because the orchestrator's own plugins send none. Only for a port that no one else reaches, or the loopback of its pod.",
  ),
})

type Auth = Readonly<
  Record<'tokens' | 'certificates', readonly unknown[]> & { oidc?: unknown; proxy?: unknown }
>

/** Whether callers need a token, a certificate or an account. */
export function requiresCredentials(auth: Auth): boolean {
  return auth.tokens.length + auth.certificates.length > 0 || hasAccounts(auth)
}

/** Whether people have accounts elsewhere, so that the configuration does not list all of them. */
export function hasAccounts({ oidc, proxy }: Pick<Auth, 'oidc' | 'proxy'>): boolean {
  return oidc !== undefined || proxy !== undefined
}
