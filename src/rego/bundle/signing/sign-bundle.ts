import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError } from '../../../errors/app-error.js'
import { signingInput } from '../../builtins/jwt/compact-token.js'
import { isStandardPair, makeSignature } from '../../builtins/jwt/signature.js'
import type { JwsAlgorithm } from '../../builtins/jwt/signature.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'
import { PEM_LABEL, misfit, readSecretKey } from './verification.js'
import type { BundleVerification } from './verification.js'
import { hashFile } from './verify-bundle.js'

/** A key that signs bundles, as plain data for another thread. */
export interface BundleSigner {
  readonly algorithm: JwsAlgorithm
  /** The secret for HS256 to HS512, else a private key in PEM. */
  readonly key: string
  /** The name of the key in the signature. */
  readonly keyId?: string | undefined
  readonly scope?: string | undefined
}

const HASH = 'SHA-256'
const OWN_KEY = 'own'

/**
 * Returns the content of `.signatures.json` for the files of a bundle, in OPA's format. Raises
 * `invalid` for a key that does not fit its algorithm.
 */
export function signFiles(files: ReadonlyMap<string, Buffer>, signer: BundleSigner): Buffer {
  const { algorithm, keyId, scope } = signer
  const listed = [...files].map(([name, content]) => ({
    name,
    hash: hashFile(name, content, HASH).toString('hex'),
    algorithm: HASH,
  }))
  const header = { alg: algorithm, ...(keyId !== undefined && { kid: keyId }) }
  const payload = {
    files: listed,
    ...(keyId !== undefined && { keyid: keyId }),
    ...(scope !== undefined && { scope }),
  }
  const token = { header: encode(header), payload: encode(payload), signature: '' }
  const input = signingInput(token)
  const signature = makeSignature(algorithm, readSigningKey(signer), input, UNMETERED_WORK)
  return Buffer.from(
    JSON.stringify({ signatures: [`${input.toString()}.${signature.toString('base64url')}`] }),
  )
}

function encode(section: object): string {
  return Buffer.from(JSON.stringify(section)).toString('base64url')
}

/**
 * Parses the key of a signer. Raises `invalid` if it does not fit the algorithm: the message names
 * the kind of the key and the one to use.
 */
export function readSigningKey({ algorithm, key }: Pick<BundleSigner, 'algorithm' | 'key'>): KeyObject {
  if (algorithm.startsWith('HS')) return readSecretKey('the signing key', algorithm, key)
  if (key.trim() === '') throw new AppError('invalid', 'the signing key is empty')
  const label = PEM_LABEL.exec(key)?.[1]
  let parsed: KeyObject
  try {
    parsed = createPrivateKey(key)
  } catch (cause) {
    throw new AppError('invalid', `the signing key ${unusableKey(key, label, algorithm)}`, { cause })
  }
  if (isStandardPair(parsed, algorithm)) return parsed
  throw new AppError('invalid', `the signing key ${misfit(parsed, algorithm)}`)
}

function unusableKey(key: string, label: string | undefined, algorithm: string): string {
  if (label === undefined)
    return `is not PEM, which begins with -----BEGIN PRIVATE KEY-----. For a secret, use HS256 instead of ${algorithm}`
  if (/PUBLIC KEY|CERTIFICATE/.test(label))
    return `is a ${label.toLowerCase()}. Use the private key that belongs to it`
  if (key.includes('ENCRYPTED'))
    return 'is encrypted. Decrypt it, such as with openssl pkey -in KEY -out PLAIN'
  return `cannot be read as a private key (${label}): the file is incomplete or damaged`
}

/** Accepts only bundles that the signer signed. */
export function verificationBy(signer: BundleSigner): BundleVerification {
  const key = readSigningKey(signer)
  const { algorithm, scope = '' } = signer
  const own = { algorithm, key: key.type === 'secret' ? key : createPublicKey(key), scope }
  const demand = { isRequired: true, keyId: OWN_KEY, excludedFiles: [] }
  return { keys: new Map([[OWN_KEY, own]]), demandOf: () => demand, demandOfSource: () => demand }
}
