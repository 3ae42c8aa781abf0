import type { AuditCheckpoint } from '../store/ports/audit-store.js'
import { makeCheckpointVerifier } from './checkpoint-signature.js'

/** What the signatures of the checkpoints prove. */
export interface SignatureCheck {
  readonly verified: number
  /** The last record that a verified checkpoint stands for; 0 when there is none. */
  readonly verifiedThroughSeq: number
  readonly problems: readonly string[]
}

type Standing = 'verified' | 'forged' | 'foreign' | 'unsigned'

/**
 * Holds the signatures of checkpoints, in the order of their records, against the public keys (SPKI in DER, in Base64) that may have
 * signed them. `beginning` is the checkpoint of retention that the trail begins behind. Raises `invalid` for a key that is none.
 */
export function checkSignatures(
  checkpoints: readonly AuditCheckpoint[],
  publicKeys: readonly string[],
  beginning: AuditCheckpoint | undefined,
): SignatureCheck {
  if (publicKeys.length === 0) return { verified: 0, verifiedThroughSeq: 0, problems: [] }
  const standingOf = makeStanding(publicKeys)
  const found = checkpoints.map((checkpoint) => ({ checkpoint, standing: standingOf.of(checkpoint) }))
  const verified = found.filter(({ standing }) => standing === 'verified')
  const firstOurs = found.findIndex(({ standing }) => standing === 'verified' || standing === 'forged')
  const suspects = found.filter(
    ({ standing }, index) => standing === 'forged' || (firstOurs !== -1 && index > firstOurs),
  )
  const isBeginningProven = beginning === undefined || standingOf.of(beginning) === 'verified'
  return {
    verified: verified.length,
    verifiedThroughSeq: verified.at(-1)?.checkpoint.seq ?? 0,
    problems: [
      ...(isBeginningProven ? [] : [unprovenBeginning(beginning.seq)]),
      ...suspects.flatMap(({ checkpoint, standing }) => complaint(checkpoint, standing)),
      ...(found.length > 0 && firstOurs === -1
        ? [`no checkpoint is signed with the key ${standingOf.keyIds.join(' or ')}`]
        : []),
    ],
  }
}

function makeStanding(publicKeys: readonly string[]): {
  readonly keyIds: readonly string[]
  readonly of: (checkpoint: AuditCheckpoint) => Standing
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
  return `all records up to ${seq} are gone, and the checkpoint that says retention removed them is not signed with a known key`
}

function complaint({ seq, keyId }: AuditCheckpoint, standing: Standing): readonly string[] {
  switch (standing) {
    case 'verified':
      return []
    case 'forged':
      return [`the checkpoint at record ${seq} has a signature that is not of the key ${keyId ?? ''}`]
    case 'foreign':
      return [
        `the checkpoint at record ${seq} is signed with an unknown key, ${keyId ?? 'without a name'}: where the key was changed, give the public keys of both`,
      ]
    case 'unsigned':
      return [`the checkpoint at record ${seq} is not signed, though earlier ones are`]
  }
}
