import { z } from 'zod'

import type { Secret } from '../../../lib/outbound/credentials.js'
import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import type { ReadSecret } from '../../values/secret.js'
import { isServerUrl, SERVER_URL_TEXT } from '../../values/server-url.js'
import { signInUrl } from './sign-in-url.js'

const TYPES = 'one of client-secret, workload-identity, managed-identity'
const ID = /^[\w.-]{1,200}$/
const LOGIN_URL = 'https://login.microsoftonline.com'

const type = <T extends string>(name: T): z.ZodLiteral<T> => key(z.literal(name), 'How to sign in.', TYPES)
const clientId = (): z.ZodString => key(z.string().regex(ID), 'The application (client) id.', 'an id')
const tenantId = (): z.ZodString =>
  key(z.string().regex(ID), 'The directory (tenant) of the application.', 'an id or a domain')
const loginUrl = () => signInUrl('URL that issues tokens.').default(LOGIN_URL)

function audience() {
  return key(
    z.string().refine(isServerUrl).optional(),
    'Audience of the token. Defaults to the origin of the source URL.',
    SERVER_URL_TEXT,
  )
}

/** Sign-in of an Azure source. */
export const AzureSignInSchema = key(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: type('client-secret'),
      ...{ tenantId: tenantId(), clientId: clientId() },
      clientSecret: secretKey('The secret of the application: its value, not its id.'),
      ...{ loginUrl: loginUrl(), audience: audience() },
    }),
    z.strictObject({
      type: type('workload-identity'),
      ...{ tenantId: tenantId(), clientId: clientId() },
      token: secretKey('The token of the service account: `{file: …}` with AZURE_FEDERATED_TOKEN_FILE.'),
      ...{ loginUrl: loginUrl(), audience: audience() },
    }),
    z.strictObject({
      type: type('managed-identity'),
      url: signInUrl(
        'URL of the platform that issues tokens: IDENTITY_ENDPOINT of App Service and Container Apps, or http://169.254.169.254/metadata/identity/oauth2/token on a virtual machine.',
      ),
      header: secretKey('IDENTITY_HEADER of App Service and Container Apps.').optional(),
      clientId: key(z.string().regex(ID).optional(), 'Client id of a user-assigned identity.', 'an id'),
      audience: audience(),
    }),
  ]),
  'How to sign in: `{type: client-secret, tenantId, clientId, clientSecret}`, `{type: workload-identity, tenantId, clientId, token}` or `{type: managed-identity, url, header}`; each secret is `{env: NAME}` or `{file: PATH}`.',
  '{type: client-secret, tenantId, clientId, clientSecret}, {type: workload-identity, tenantId, clientId, token} or {type: managed-identity, url, header}',
  { isHidden: true },
)

type Configured = z.output<typeof AzureSignInSchema>
type WithSecrets<T> = T extends unknown
  ? Omit<T, 'clientSecret' | 'token' | 'header'> &
      ('clientSecret' extends keyof T ? { readonly clientSecret: Secret } : object) &
      ('token' extends keyof T ? { readonly token: Secret } : object) &
      ('header' extends keyof T ? { readonly header?: Secret | undefined } : object)
  : never

/** Sign-in of an Azure source with its secrets. */
export type AzureSignIn = WithSecrets<Configured>

/** Reads the secrets of a sign-in. Throws as `readSecret`. */
export function readAzureSignIn(signIn: Readonly<Configured>, readSecret: ReadSecret): AzureSignIn {
  switch (signIn.type) {
    case 'client-secret':
      return { ...signIn, clientSecret: readSecret(signIn.clientSecret) }
    case 'workload-identity':
      return { ...signIn, token: readSecret(signIn.token) }
    case 'managed-identity':
      return { ...signIn, header: signIn.header && readSecret(signIn.header) }
  }
}
