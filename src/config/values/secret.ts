import { z } from 'zod'

import type { Secret } from '../../lib/outbound/credentials.js'
import { key } from './key.js'

const ALLOWED =
  '{env: NAME} or {file: PATH}: secrets are in the environment or in a file, not in the configuration'

const SecretReferenceSchema = z.union([
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
  z.strictObject({ file: z.string().min(1) }),
])

/** Reference to a secret in an environment variable, or in a file that contains nothing else. */
export type SecretReference = z.output<typeof SecretReferenceSchema>

/** Returns the secret of a reference. Throws `invalid` if it cannot be read. */
export type ReadSecret = (reference: Readonly<SecretReference>) => Secret

/** A key that refers to a secret. */
export function secretKey(description: string): z.ZodType<SecretReference> {
  // Cloned, because descriptions are registered by schema.
  return key(SecretReferenceSchema.clone(), description, ALLOWED, { isHidden: true, isSecretReference: true })
}
