import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { AppError } from '../errors/app-error.js'
import type { AuditCheckpoint } from '../store/ports/audit-store.js'

/** The signed content of a checkpoint. */
export type CheckpointStatement = Pick<AuditCheckpoint, 'seq' | 'hash' | 'atMs' | 'reason'>

/** Signs checkpoints with one key. */
export interface CheckpointSigner {
  readonly keyId: string
  /** SPKI in DER, in Base64, for `tidegate audit verify --public-key`. */
  readonly publicKey: string
  readonly sign: (statement: CheckpointStatement) => string
}

const KEY_ID_DIGITS = 16

/**
 * Makes a signer from an Ed25519 key, PKCS#8 in DER in Base64. Raises `invalid` for any other text.
 */
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

/**
 * Makes a verifier for a public key, SPKI in DER in Base64. Raises `invalid` with the key's name
 * for any other text.
 */
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

/** Generates a key pair in the formats of the configuration and of `verify`. */
export function generateSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const exported = privateKey.export({ format: 'der', type: 'pkcs8' })
  return { privateKey: exported.toString('base64'), publicKey: exportPublic(publicKey) }
}

/**
 * Canonical text of a statement. The purpose comes first, so that the signature is useless
 * elsewhere.
 */
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
    // OpenSSL's message about an invalid key helps nobody.
  }
  throw new AppError(
    'invalid',
    `${name} is not an Ed25519 key in DER and Base64: make one with tidegate audit keygen`,
  )
}

/** Result of checking the signatures of checkpoints. */
interface SignatureCheck {
  readonly verified: number
  /** The last record of a verified checkpoint; 0 without any. */
  readonly verifiedThroughSeq: number
  readonly problems: readonly string[]
}

type SignatureState = 'verified' | 'forged' | 'foreign' | 'unsigned'

/**
 * Checks the signatures of checkpoints, in the order of their records, with public keys (SPKI in
 * DER, in Base64). `beginning` is the retention checkpoint before the first record. Raises
 * `invalid` for an invalid key.
 */
export function checkSignatures(
  checkpoints: readonly AuditCheckpoint[],
  publicKeys: readonly string[],
  beginning: AuditCheckpoint | undefined,
): SignatureCheck {
  if (publicKeys.length === 0) return { verified: 0, verifiedThroughSeq: 0, problems: [] }
  const states = makeSignatureStates(publicKeys)
  const found = checkpoints.map((checkpoint) => ({ checkpoint, state: states.of(checkpoint) }))
  const verified = found.filter(({ state }) => state === 'verified')
  const firstOurs = found.findIndex(({ state }) => state === 'verified' || state === 'forged')
  const suspects = found.filter(
    ({ state }, index) => state === 'forged' || (firstOurs !== -1 && index > firstOurs),
  )
  const isBeginningProven = beginning === undefined || states.of(beginning) === 'verified'
  return {
    verified: verified.length,
    verifiedThroughSeq: verified.at(-1)?.checkpoint.seq ?? 0,
    problems: [
      ...(isBeginningProven ? [] : [unprovenBeginning(beginning.seq)]),
      ...suspects.flatMap(({ checkpoint, state }) => complaint(checkpoint, state)),
      ...(found.length > 0 && firstOurs === -1
        ? [`no checkpoint is signed with the key ${states.keyIds.join(' or ')}`]
        : []),
    ],
  }
}

function makeSignatureStates(publicKeys: readonly string[]): {
  readonly keyIds: readonly string[]
  readonly of: (checkpoint: AuditCheckpoint) => SignatureState
} {
  const verifiers = new Map(
    publicKeys.map((key) => makeCheckpointVerifier(key)).map((verifier) => [verifier.keyId, verifier]),
  )
  return {
    keyIds: [...verifiers.keys()],
    of: (checkpoint) => {
      const verifier = verifiers.get(checkpoint.keyId ?? '')
      if (verifier !== undefined) return verifier.isSignedBy(checkpoint) ? 'verified' : 'forged'
      return checkpoint.signature === undefined ? 'unsigned' : 'foreign'
    },
  }
}

function unprovenBeginning(seq: number): string {
  return `all records up to ${seq} are gone, and their retention checkpoint is not signed with a known key`
}

function complaint({ seq, keyId }: AuditCheckpoint, state: SignatureState): readonly string[] {
  switch (state) {
    case 'verified':
      return []
    case 'forged':
      return [`the checkpoint at record ${seq} has an invalid signature for the key ${keyId ?? ''}`]
    case 'foreign':
      return [
        `the checkpoint at record ${seq} is signed with an unknown key, ${keyId ?? 'without a name'}: where the key was changed, give the public keys of both`,
      ]
    case 'unsigned':
      return [`the checkpoint at record ${seq} is not signed, though earlier ones are`]
  }
}
