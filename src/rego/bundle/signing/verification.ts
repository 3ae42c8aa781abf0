import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError, toError } from '../../../errors/app-error.js'
import { readVerificationKeys } from '../../builtins/jwt/verification-keys.js'
import { suitsAlgorithm } from '../../builtins/jwt/signature.js'
import type { JwsAlgorithm } from '../../builtins/jwt/signature.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'

/** A key for verifying bundles. */
export interface BundleKey {
  readonly algorithm: JwsAlgorithm
  readonly key: KeyObject
  /** The required scope by default. */
  readonly scope: string
}

/** The required signature of a bundle. */
export interface SignatureDemand {
  readonly isRequired: boolean
  /** The required key; by default the one that the signature names. */
  readonly keyId?: string | undefined
  readonly scope?: string | undefined
  /** Files that need no signature, as glob patterns. */
  readonly excludedFiles: readonly string[]
}

/** How bundles are verified. */
export interface BundleVerification {
  readonly keys: ReadonlyMap<string, BundleKey>
  /** The demand for a bundle by its file. */
  readonly demandOf: (bundle: string) => SignatureDemand
  /** The demand for the bundles of a source by its name. */
  readonly demandOfSource: (source: string) => SignatureDemand
}

const NO_DEMAND: SignatureDemand = { isRequired: false, excludedFiles: [] }

/** Accepts unsigned bundles only, since there is no key. */
export const NO_VERIFICATION: BundleVerification = {
  keys: new Map(),
  demandOf: () => NO_DEMAND,
  demandOfSource: () => NO_DEMAND,
}

/**
 * Parses a key: the secret for HS256 to HS512, else a PEM public key or certificate, or a JWK.
 * Raises `invalid` if it does not fit the algorithm.
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
