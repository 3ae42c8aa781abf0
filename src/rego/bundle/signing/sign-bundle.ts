import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { AppError, toError } from '../../../errors/app-error.js'
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

/** Parses the key of a signer. Raises `invalid` if it does not fit the algorithm. */
export function readSigningKey({ algorithm, key }: Pick<BundleSigner, 'algorithm' | 'key'>): KeyObject {
  if (algorithm.startsWith('HS')) return createSecretKey(Buffer.from(key))
  let parsed: KeyObject
  try {
    parsed = createPrivateKey(key)
  } catch (raw) {
    throw new AppError('invalid', `the signing key is no private key in PEM: ${toError(raw).message}`, {
      cause: raw,
    })
  }
  if (suitsAlgorithm(parsed, algorithm)) return parsed
  throw new AppError('invalid', `the signing key is no key for ${algorithm}`)
}

/** Accepts only bundles that the signer signed. */
export function verificationBy(signer: BundleSigner): BundleVerification {
  const key = readSigningKey(signer)
  const { algorithm, scope = '' } = signer
  const own = { algorithm, key: key.type === 'secret' ? key : createPublicKey(key), scope }
  const demand = { isRequired: true, keyId: OWN_KEY, excludedFiles: [] }
  return { keys: new Map([[OWN_KEY, own]]), demandOf: () => demand, demandOfSource: () => demand }
}
