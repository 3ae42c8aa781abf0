import { z } from 'zod'

import { key } from '../values/key.js'
import { secretKey } from '../values/secret.js'
import { isServerUrl } from '../values/server-url.js'
import { roleGroupKeys } from './roles.js'

const name = (description: string, byDefault: string) =>
  key(z.string().min(1).default(byDefault), description, 'the name of a claim')

/** Sign-ins travel over TLS only, on loopback too. */
function isProviderUrl(text: string): boolean {
  return isServerUrl(text) && new URL(text).protocol === 'https:'
}

/** An identity provider with OpenID Connect, at which people sign in. */
export const ProviderSection = z.strictObject({
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
export const ProxySection = z.strictObject({
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
