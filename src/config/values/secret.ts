import { z } from 'zod'

import type { Secret } from '../../lib/outbound/credentials.js'
import { key } from './key.js'

const ALLOWED =
  '{env: NAME} or {file: PATH}: a secret stands in the environment or in a file, never in the configuration'

const SecretReferenceSchema = z.union([
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
  z.strictObject({ file: z.string().min(1) }),
])

/** Where a secret stands: in a variable of the environment, or in a file that holds nothing else. */
export type SecretReference = z.output<typeof SecretReferenceSchema>

/** Returns the secret that a reference names. Raises `invalid` when it cannot be read. */
export type ReadSecret = (reference: Readonly<SecretReference>) => Secret

/** A key whose value is a secret: the configuration only says where it is to be read from. */
export function secretKey(description: string): z.ZodType<SecretReference> {
  // A copy, since descriptions are kept by schema.
  return key(SecretReferenceSchema.clone(), description, ALLOWED, { isHidden: true, isSecretReference: true })
}
