import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { AppError } from '../errors/app-error.js'
import type { AuditCheckpoint } from '../store/ports/audit-store.js'

/** What a checkpoint says before it is signed. */
export type CheckpointStatement = Pick<AuditCheckpoint, 'seq' | 'hash' | 'atMs' | 'reason'>

/** Signs checkpoints with one key. */
export interface CheckpointSigner {
  readonly keyId: string
  /** SPKI in DER, in Base64: what `tidegate audit verify --public-key` takes. */
  readonly publicKey: string
  readonly sign: (statement: CheckpointStatement) => string
}

const KEY_ID_DIGITS = 16

/** A signer of an Ed25519 key, PKCS#8 in DER in Base64. Raises `invalid` for anything else. */
export function makeCheckpointSigner(privateKey: string): CheckpointSigner {
  const key = readKey('audit.signingKey', () =>
    createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' }),
  )
  const publicKey = exportPublic(createPublicKey(key))
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    sign: (statement) => sign(null, textOf(statement), key).toString('base64'),
  }
}

/** Checks the signatures of one key, given as SPKI in DER in Base64. Raises `invalid`, by that name, for anything else. */
export function makeCheckpointVerifier(
  publicKey: string,
  name = 'the public key',
): {
  readonly keyId: string
  readonly isSignedBy: (checkpoint: AuditCheckpoint) => boolean
} {
  const key = readKey(name, () =>
    createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' }),
  )
  return {
    keyId: keyIdOf(exportPublic(key)),
    isSignedBy: (checkpoint) =>
      checkpoint.signature !== undefined &&
      verify(null, textOf(checkpoint), key, Buffer.from(checkpoint.signature, 'base64')),
  }
}

/** A new pair of keys, in the forms that the configuration and `verify` take. */
export function generateSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const exported = privateKey.export({ format: 'der', type: 'pkcs8' })
  return { privateKey: exported.toString('base64'), publicKey: exportPublic(publicKey) }
}

/** One way to write a statement down, with its purpose in front, so that the signature serves for nothing else. */
function textOf({ seq, hash, atMs, reason }: CheckpointStatement): Buffer {
  return Buffer.from(['tidegate audit checkpoint', seq, hash, atMs, reason].join('\n'))
}

function exportPublic(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64')
}

function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex').slice(0, KEY_ID_DIGITS)
}

function readKey(name: string, read: () => KeyObject): KeyObject {
  try {
    const key = read()
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // What OpenSSL says of a text that is no key helps nobody.
  }
  throw new AppError(
    'invalid',
    `${name} is no Ed25519 key in DER and Base64: tidegate audit keygen makes one`,
  )
}
