import { z } from 'zod'

import type { Secret } from '../../lib/outbound/credentials.js'
import { key } from '../values/key.js'
import { secretKey } from '../values/secret.js'
import type { ReadSecret } from '../values/secret.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'

const TYPES = 'one of client-secret, managed-identity'
const ID = /^[\w.-]{1,200}$/

/** New ones each time, since descriptions are kept by schema. */
function url(description: string, allowed = SERVER_URL_TEXT) {
  return key(z.string().refine(isServerUrl), description, allowed, { isHidden: true })
}

function audience() {
  return key(
    z.string().refine(isServerUrl).optional(),
    'What the token is for, where it is not the origin of the url of the source.',
    SERVER_URL_TEXT,
  )
}

/** How a source of Azure gets its tokens. */
export const AzureSignInSchema = key(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: key(z.literal('client-secret'), 'How to sign in.', TYPES),
      tenantId: key(z.string().regex(ID), 'The directory (tenant) of the application.', 'an id or a domain'),
      clientId: key(z.string().regex(ID), 'The application (client) that asks.', 'an id'),
      clientSecret: secretKey('The secret of the application: its value, not its id.'),
      loginUrl: url('Where tokens come from.').default('https://login.microsoftonline.com'),
      audience: audience(),
    }),
    z.strictObject({
      type: key(z.literal('managed-identity'), 'How to sign in.', TYPES),
      url: url(
        'Where the platform gives tokens: IDENTITY_ENDPOINT of App Service and Container Apps. The link-local address of virtual machines is never asked.',
      ),
      header: secretKey('IDENTITY_HEADER of App Service and Container Apps.').optional(),
      clientId: key(
        z.string().regex(ID).optional(),
        'Which identity, where it is assigned by the user.',
        'an id',
      ),
      audience: audience(),
    }),
  ]),
  'How to sign in: `{type: client-secret, tenantId, clientId, clientSecret}` or `{type: managed-identity, url, header}`; each secret is `{env: NAME}` or `{file: PATH}`.',
  '{type: client-secret, tenantId, clientId, clientSecret} or {type: managed-identity, url, header}',
  { isHidden: true },
)

/** How a source of Google signs in, and what it asks. */
export const google = {
  serviceAccount: secretKey('The key file of a service account, as it was downloaded.'),
  tokenUrl: url('Where tokens come from, where it is not what the key file says.').optional(),
  project: key(
    z
      .string()
      .regex(/^[a-z0-9:.-]{1,100}$/)
      .optional(),
    'The project that is asked, else that of the service account.',
    'the id or the number of a project',
  ),
}

type Configured = z.output<typeof AzureSignInSchema>
type WithSecrets<T> = T extends unknown
  ? Omit<T, 'clientSecret' | 'header'> &
      ('clientSecret' extends keyof T ? { readonly clientSecret: Secret } : object) &
      ('header' extends keyof T ? { readonly header?: Secret | undefined } : object)
  : never

/** How a source of Azure gets its tokens, its secrets read. */
export type AzureSignIn = WithSecrets<Configured>

/** The secrets of a sign-in. Raises as `readSecret`. */
export function readAzureSignIn(signIn: Readonly<Configured>, readSecret: ReadSecret): AzureSignIn {
  if (signIn.type === 'client-secret') {
    return { ...signIn, clientSecret: readSecret(signIn.clientSecret) }
  }
  return { ...signIn, header: signIn.header && readSecret(signIn.header) }
}
