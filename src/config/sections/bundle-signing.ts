import { z } from 'zod'

import { PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from '../values/bundle-algorithms.js'
import { key } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const id = () => key(z.string().min(1), 'The id that signatures name the key by.', 'the id of a key')
const scope = () =>
  key(z.string().optional(), 'The scope that signatures must have; none when it is left out.', 'a text')

const Key = z.discriminatedUnion('algorithm', [
  z.strictObject({
    id: id(),
    algorithm: key(z.enum(SECRET_ALGORITHMS), 'The algorithm.', SECRET_ALGORITHMS.join(', ')),
    secret: secretKey('The secret that bundles are signed with.'),
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
    'The key that bundles must be signed with; the signature names it when left out.',
    'the id of one of the keys',
  ),
  scope: key(z.string().optional(), 'The scope that signatures must have; else that of the key.', 'a text'),
  excludeFiles: key(
    z.array(z.string().min(1)).default([]),
    'Files of a bundle that need not be signed; `*` stands for any signs but a slash.',
    'a list of file patterns',
  ),
}

/** How bundles must be signed. */
export const BundleSigningSection = z.strictObject({
  required: key(
    z.boolean().optional(),
    'Whether a bundle without a signature is refused: by default it is where there are keys. A signed bundle is always verified.',
    'true or false',
  ),
  keys: key(
    z.array(Key).default([]),
    'Keys that bundles may be signed with: `{id, algorithm, publicKeyFile, scope?}` for RS256 to PS512, `{id, algorithm, secret, scope?}` for HS256 to HS512, where the secret is `{env: NAME}` or `{file: PATH}`.',
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
    'Other demands for single bundles, in place of those above: `{file, keyId?, scope?, excludeFiles?}`.',
    'a list of {file, keyId?, scope?, excludeFiles?}',
  ),
})
