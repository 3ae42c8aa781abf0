import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError } from '../../../errors/app-error.js'
import { signingInput } from '../../builtins/jwt/compact-token.js'
import { makeSignature, suitsAlgorithm } from '../../builtins/jwt/signature.js'
import type { JwsAlgorithm } from '../../builtins/jwt/signature.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'
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
  if (key.trim() === '') throw new AppError('invalid', 'the signing key is empty')
  const label = PEM_LABEL.exec(key)?.[1]
  if (algorithm.startsWith('HS')) {
    if (label === undefined) return createSecretKey(Buffer.from(key))
    throw new AppError('invalid', `the signing key is a PEM file (${label}), but ${algorithm} needs a secret`)
  }
  let parsed: KeyObject
  try {
    parsed = createPrivateKey(key)
  } catch (cause) {
    throw new AppError('invalid', `the signing key ${unusableKey(key, label, algorithm)}`, { cause })
  }
  if (suitsAlgorithm(parsed, algorithm)) return parsed
  const type = parsed.asymmetricKeyType ?? 'unknown'
  const suitable = SUITABLE.get(type)
  const advice = suitable === undefined ? 'use an RSA or EC key' : `use ${suitable} or another key`
  throw new AppError('invalid', `the signing key (type ${type}) does not fit ${algorithm}: ${advice}`)
}

const SUITABLE: ReadonlyMap<string, JwsAlgorithm> = new Map([
  ['rsa', 'RS256'],
  ['ec', 'ES256'],
  ['ed25519', 'EdDSA'],
])
const PEM_LABEL = /-----BEGIN ([A-Z0-9 ]+)-----/

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
