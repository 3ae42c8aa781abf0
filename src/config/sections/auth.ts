import { z } from 'zod'
import { parseSubject } from '../values/certificate-subject.js'
import { booleanKey, key } from '../values/key.js'
import { secretKey } from '../values/secret.js'
import { isServerUrl } from '../values/server-url.js'
import { ROLES, roleGroupKeys } from './roles.js'

const name = (description: string, byDefault: string) =>
  key(z.string().min(1).default(byDefault), description, 'the name of a claim')

/** Sign-ins travel over TLS only, on loopback too. */
function isProviderUrl(text: string): boolean {
  return isServerUrl(text) && new URL(text).protocol === 'https:'
}

/** An identity provider with OpenID Connect, at which people sign in. */
const ProviderSection = z.strictObject({
  issuer: key(
    z.string().refine(isProviderUrl),
    'URL of the issuer, as in its `/.well-known/openid-configuration`.',
    'an https URL without user name, password, query and fragment',
  ),
  clientId: key(
    z.string().min(1),
    'Identifier of this service at the provider. Its redirect URI there is `PUBLIC_URL/ui/sign-in/callback`.',
    'a text',
  ),
  clientSecret: secretKey(
    'Secret of this service at the provider. Without it, the client is public.',
  ).optional(),
  tlsCa: key(
    z.string().min(1).optional(),
    'File with trusted authorities (PEM) of the provider. Defaults to those of Node.js.',
    'the path of a file',
  ),
  label: key(
    z.string().min(1).max(60).default('your company account'),
    'What people sign in with, on the button `Sign in with …`.',
    'a text of 1 to 60 characters',
  ),
  scopes: key(
    z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).default(['openid', 'profile', 'email']),
    'Requested scopes. Add `offline_access` or the scope for groups where the provider requires it.',
    'a list of scopes',
  ),
  nameClaim: name('Claim with the name of a person. It must be unique and not editable by people.', 'email'),
  groupsClaim: name(
    'Claim with the list of groups of a person. They give roles, and count for the approvers of gates.',
    'groups',
  ),
  roles: roleGroupKeys('everybody who has an account'),
  audience: key(
    z.string().min(1).optional(),
    'Audience (`aud`) of the access tokens of this provider that the API accepts as bearer tokens. Without it, the API accepts none.',
    'a text',
  ),
  approvalAcr: key(
    z.string().min(1).optional(),
    'Authentication context (`acr`) that approvals in the browser require, for example that of a second factor. People who have signed in without it sign in again.',
    'a value of the claim acr',
  ),
})

/** A proxy in front of the service that authenticates people. */
const ProxySection = z.strictObject({
  addresses: key(
    z.array(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()])).min(1),
    'Addresses of the proxy. The headers of all other callers are ignored.',
    'a list of at least one address or range, such as 10.0.0.0/24',
  ),
  userHeader: key(
    z
      .string()
      .regex(/^[A-Za-z0-9-]+$/)
      .default('X-Forwarded-User'),
    'Header with the name of the person.',
    'the name of a header',
  ),
  groupsHeader: key(
    z
      .string()
      .regex(/^[A-Za-z0-9-]+$/)
      .default('X-Forwarded-Groups'),
    'Header with the groups of the person, separated by commas.',
    'the name of a header',
  ),
  roles: roleGroupKeys('everybody whom the proxy has authenticated'),
})

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
