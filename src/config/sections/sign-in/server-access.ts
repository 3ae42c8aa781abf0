import { z } from 'zod'

import { CredentialsSchema } from '../../values/credentials.js'
import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import { aws } from './aws.js'
import { signInUrl } from './sign-in-url.js'

export const file = (meaning: string) => key(z.string().min(1).optional(), meaning, 'the path of a file')

const SIGN_IN = 'one of oauth2, aws'
const type = <T extends string>(name: T): z.ZodLiteral<T> => key(z.literal(name), 'How to sign in.', SIGN_IN)

/** Credentials that need a request of their own, or sign each request. */
const SignIn = z.discriminatedUnion('type', [
  z.strictObject({
    type: type('oauth2'),
    tokenUrl: signInUrl('The token endpoint.'),
    clientId: key(z.string().min(1), 'The client.', 'an id'),
    clientSecret: secretKey('The secret of the client.'),
    scopes: key(z.array(z.string().min(1)).default([]), 'The requested scopes.', 'a list of scopes'),
  }),
  z.strictObject({
    type: type('aws'),
    service: key(
      z
        .string()
        .regex(/^[\w-]+$/)
        .default('s3'),
      'The service by its signing name.',
      'the name of a service such as s3',
    ),
    ...aws,
  }),
])

/** How requests to a server of policies or decisions are authenticated. */
export const serverAccess = {
  credentials: CredentialsSchema.optional(),
  signIn: key(
    SignIn.optional(),
    'OAuth2 client credentials, or signatures of AWS version 4.',
    '{type: oauth2, tokenUrl, clientId, clientSecret} or {type: aws, region, …}',
    { isHidden: true },
  ),
  tlsCa: file('Trusted authorities (PEM), in place of those of Node.js.'),
  tlsCertificate: file('Client certificate (PEM).'),
  tlsKey: file('Key of the client certificate (PEM).'),
}
