import { z } from 'zod'

import { PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from '../values/bundle-algorithms.js'
import { key } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const id = () => key(z.string().min(1), 'The id of the key in signatures.', 'the id of a key')
const scope = () =>
  key(z.string().optional(), 'The scope that signatures must have. None by default.', 'a text')

const Key = z.discriminatedUnion('algorithm', [
  z.strictObject({
    id: id(),
    algorithm: key(z.enum(SECRET_ALGORITHMS), 'The algorithm.', SECRET_ALGORITHMS.join(', ')),
    secret: secretKey('The secret that signs bundles.'),
    scope: scope(),
  }),
  z.strictObject({
    id: id(),
    algorithm: key(z.enum(PUBLIC_ALGORITHMS), 'The algorithm.', PUBLIC_ALGORITHMS.join(', ')),
    publicKeyFile: key(
      z.string().min(1),
      'A file with the public key: PEM (key or certificate) or a JWK.',
      'the path of a file',
    ),
    scope: scope(),
  }),
])

const demand = {
  keyId: key(
    z.string().min(1).optional(),
    'The key that must sign bundles. By default the signature names it.',
    'the id of one of the keys',
  ),
  scope: key(
    z.string().optional(),
    'The scope that signatures must have. Defaults to that of the key.',
    'a text',
  ),
  excludeFiles: key(
    z.array(z.string().min(1)).default([]),
    'Files of a bundle that need not be signed. `*` matches any characters except a slash.',
    'a list of file patterns',
  ),
}

/** Requirements for the signatures of bundles. */
export const BundleSigningSection = z.strictObject({
  required: key(
    z.boolean().optional(),
    'Whether a bundle without a signature is refused. By default it is if there are keys. A signed bundle is always verified.',
    'true or false',
  ),
  keys: key(
    z.array(Key).default([]),
    'Keys that may sign bundles: `{id, algorithm, publicKeyFile, scope?}` for RS256 to PS512, `{id, algorithm, secret, scope?}` for HS256 to HS512, where the secret is `{env: NAME}` or `{file: PATH}`.',
    'a list of {id, algorithm, publicKeyFile, scope?} or {id, algorithm, secret, scope?}',
    { isHidden: true },
  ),
  ...demand,
  bundles: key(
    z
      .array(
        z.strictObject({
          file: key(z.string().min(1), 'The bundle, as in `policies.bundles`.', 'the path of a bundle'),
          ...demand,
        }),
      )
      .default([]),
    'Requirements for single bundles, in place of those above: `{file, keyId?, scope?, excludeFiles?}`.',
    'a list of {file, keyId?, scope?, excludeFiles?}',
  ),
})

const SigningKey = z.discriminatedUnion('algorithm', [
  z.strictObject({
    algorithm: key(z.enum(SECRET_ALGORITHMS), 'The algorithm.', SECRET_ALGORITHMS.join(', ')),
    secret: secretKey('The secret that signs the bundle.'),
    keyId: id().optional(),
    scope: key(z.string().optional(), 'The scope of the signature.', 'a text'),
  }),
  z.strictObject({
    algorithm: key(z.enum(PUBLIC_ALGORITHMS), 'The algorithm.', PUBLIC_ALGORITHMS.join(', ')),
    privateKeyFile: key(z.string().min(1), 'A file with the private key (PEM).', 'the path of a file'),
    keyId: id().optional(),
    scope: key(z.string().optional(), 'The scope of the signature.', 'a text'),
  }),
])

/** The policies that serve as a bundle for others. */
export const PublishSection = z.strictObject({
  name: key(
    z
      .string()
      .regex(/^\w[\w.-]{0,99}$/)
      .optional(),
    'Publishes the policies that serve as the bundle `GET /bundles/NAME`, for other services and for OPA (role instance). Nothing is published by default.',
    'up to 100 letters, digits, dots and dashes',
  ),
  signing: key(
    SigningKey.optional(),
    'The key that signs the bundle: `{algorithm, privateKeyFile, keyId?, scope?}` for RS256 to PS512, `{algorithm, secret, keyId?, scope?}` for HS256 to HS512. It is read again for each revision.',
    '{algorithm, privateKeyFile, keyId?, scope?} or {algorithm, secret, keyId?, scope?}',
    { isHidden: true },
  ),
})
