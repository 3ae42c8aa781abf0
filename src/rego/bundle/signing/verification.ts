import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError, toError } from '../../../errors/app-error.js'
import { readVerificationKeys } from '../../builtins/jwt/verification-keys.js'
import { suitsAlgorithm } from '../../builtins/jwt/signature.js'
import type { JwsAlgorithm } from '../../builtins/jwt/signature.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'

/** A key that bundles may be signed with. */
export interface BundleKey {
  readonly algorithm: JwsAlgorithm
  readonly key: KeyObject
  /** The scope that a signature must have when none is asked for by the bundle's own settings. */
  readonly scope: string
}

/** What is asked of the signature of one bundle. */
export interface SignatureDemand {
  readonly isRequired: boolean
  /** The key that must have signed; the signature names it where none is given. */
  readonly keyId?: string | undefined
  readonly scope?: string | undefined
  /** Files that need not be signed, as glob patterns. */
  readonly excludedFiles: readonly string[]
}

/** How bundles are verified. */
export interface BundleVerification {
  readonly keys: ReadonlyMap<string, BundleKey>
  readonly demandOf: (bundle: string) => SignatureDemand
}

/** Takes unsigned bundles only: there is no key to verify a signed one with. */
export const NO_VERIFICATION: BundleVerification = {
  keys: new Map(),
  demandOf: () => ({ isRequired: false, excludedFiles: [] }),
}

/**
 * The key in a text: the secret itself for HS256 to HS512, else a PEM public key or certificate, or a JWK. Raises `invalid` where it
 * is none for that algorithm.
 */
export function readBundleKey(id: string, algorithm: JwsAlgorithm, text: string): KeyObject {
  if (algorithm.startsWith('HS')) return createSecretKey(Buffer.from(text))
  const key = publicKeyIn(id, text)
  if (key.type === 'public' && suitsAlgorithm(key, algorithm)) return key
  throw new AppError('invalid', `the bundle key ${id} is no public key for ${algorithm}`)
}

function publicKeyIn(id: string, text: string): KeyObject {
  try {
    const [first, ...more] = readVerificationKeys(text.trim(), UNMETERED_WORK)
    if (first?.key !== undefined && more.length === 0) return first.key
  } catch (raw) {
    throw new AppError('invalid', `the bundle key ${id} cannot be read: ${toError(raw).message}`, {
      cause: raw,
    })
  }
  throw new AppError('invalid', `the bundle key ${id} is not one key`)
}
