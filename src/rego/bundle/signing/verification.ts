import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError, toError } from '../../../errors/app-error.js'
import { readVerificationKeys } from '../../builtins/jwt/verification-keys.js'
import { isStandardPair, usualAlgorithm } from '../../builtins/jwt/signature.js'
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

/** The kind of a PEM file. */
export const PEM_LABEL = /-----BEGIN ([A-Z0-9 ]+)-----/

/**
 * Parses a key: the secret for HS256 to HS512, else a PEM public key or certificate, or a JWK.
 * Raises `invalid` if it does not fit the algorithm: the message names what would.
 */
export function readBundleKey(id: string, algorithm: JwsAlgorithm, text: string): KeyObject {
  if (algorithm.startsWith('HS')) return readSecretKey(`the bundle key ${id}`, algorithm, text)
  const key = publicKeyIn(id, text)
  if (key.type === 'public' && isStandardPair(key, algorithm)) return key
  const problem = key.type === 'public' ? misfit(key, algorithm) : `is a ${key.type} key: use the public key`
  throw new AppError('invalid', `the bundle key ${id} ${problem}`)
}

/**
 * Returns the secret of HS256 to HS512. Raises `invalid` for none, and for a PEM file: whoever knows
 * a public key could sign with it.
 */
export function readSecretKey(name: string, algorithm: JwsAlgorithm, text: string): KeyObject {
  if (text.trim() === '') throw new AppError('invalid', `${name} is empty`)
  const label = PEM_LABEL.exec(text)?.[1]
  if (label === undefined) return createSecretKey(Buffer.from(text))
  throw new AppError('invalid', `${name} is a PEM file (${label}), but ${algorithm} needs a secret`)
}

/** Describes a key that an algorithm cannot use, and what to do. */
export function misfit(key: KeyObject, algorithm: JwsAlgorithm): string {
  const usual = usualAlgorithm(key)
  const curve = key.asymmetricKeyDetails?.namedCurve
  const type = `type ${key.asymmetricKeyType ?? key.type}${curve === undefined ? '' : `, curve ${curve}`}`
  const advice =
    usual === undefined
      ? 'use an RSA key or one of the curves P-256, P-384 and P-521'
      : `use ${usual} or another key`
  return `(${type}) does not fit ${algorithm}: ${advice}`
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
