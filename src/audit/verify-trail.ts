import type { AuditCheckpoint, ChainEnd } from '../store/ports/audit-store.js'
import type { Reader } from '../store/ports/readers.js'
import { checkChain, readCheckpoints } from './audit-operations.js'
import { checkSignatures } from './checkpoint-signature.js'

export interface VerifyOptions {
  readonly reader: Reader
  /** SPKI in DER, in Base64. Checkpoints must be signed with one of them. */
  readonly publicKeys?: readonly string[] | undefined
  /** Whether a trail without checkpoints is reported: it is new, or its proofs are gone. */
  readonly expectsSignatures?: boolean | undefined
  /** A link from outside of the database that the chain must have. */
  readonly expected?: ChainEnd | undefined
  readonly progress?: ((checked: number) => void) | undefined
}

/** Result of a verification. */
export interface Verification {
  readonly isIntact: boolean
  /** Problems, most important first. */
  readonly problems: readonly string[]
  /** The first record that was changed, removed or moved. */
  readonly firstBadSeq?: number | undefined
  readonly checked: number
  /** The last correct record. */
  readonly end: ChainEnd
  /** Number of the record before the first: 0, or the last one that retention removed. */
  readonly startsAfterSeq: number
  readonly checkpoints: CheckpointCounts
}

/** Number of checkpoints, and how far signatures reach. */
export interface CheckpointCounts {
  readonly total: number
  readonly signed: number
  /** Whether there was a key. Without one, anyone who can write to the file can forge the trail. */
  readonly signaturesChecked: boolean
  readonly verified: number
  /** The last record of a verified checkpoint; 0 without any. */
  readonly verifiedThroughSeq: number
}

/** Low, so that concurrent searches do not wait for long. */
const RECORDS_PER_STEP = 5000
const START: ChainEnd = { seq: 0, hash: '0'.repeat(64) }

/**
 * Checks the chain from its start, or after removed records, and compares it with all checkpoints.
 * If retention removes records during the check, it starts again after them.
 */
export async function verifyTrail(options: VerifyOptions): Promise<Verification> {
  let checkpoints = await options.reader.run(readCheckpoints, null)
  for (;;) {
    const found = await verifyOnce(options, checkpoints)
    checkpoints = await options.reader.run(readCheckpoints, null)
    const removedThrough = beginningOf(checkpoints)?.seq ?? START.seq
    const isOvertaken = !found.isIntact || found.end.seq < removedThrough
    if (!isOvertaken || removedThrough <= found.startsAfterSeq) return found
  }
}

function beginningOf(checkpoints: readonly AuditCheckpoint[]): AuditCheckpoint | undefined {
  return checkpoints.findLast(({ reason }) => reason === 'retention')
}

async function verifyOnce(
  options: VerifyOptions,
  checkpoints: readonly AuditCheckpoint[],
): Promise<Verification> {
  const beginning = beginningOf(checkpoints)
  const start = beginning ?? START
  const expectations = [...checkpoints, ...(options.expected === undefined ? [] : [options.expected])]
    .filter(({ seq }) => seq > start.seq)
    .sort((a, b) => a.seq - b.seq)
  const followed = await follow(options, start, expectations)
  const publicKeys = options.publicKeys ?? []
  const signatures = checkSignatures(checkpoints, publicKeys, beginning)
  const emptied =
    options.expectsSignatures === true && checkpoints.length === 0 ? emptiedTrail(followed.end) : []
  const problems = [...followed.problems, ...signatures.problems, ...emptied]
  return {
    isIntact: problems.length === 0,
    problems,
    firstBadSeq: followed.firstBadSeq,
    checked: followed.end.seq - start.seq,
    end: followed.end,
    startsAfterSeq: start.seq,
    checkpoints: {
      total: checkpoints.length,
      signed: checkpoints.filter(({ signature }) => signature !== undefined).length,
      signaturesChecked: publicKeys.length > 0,
      verified: signatures.verified,
      verifiedThroughSeq: signatures.verifiedThroughSeq,
    },
  }
}

/** A trail has checkpoints after a few minutes. Without any, it was emptied or replaced. */
function emptiedTrail({ seq }: ChainEnd): string[] {
  return [
    seq === 0
      ? 'the trail is empty, without any checkpoint: either nothing was recorded yet, or all of it is gone'
      : `no checkpoint proves the ${seq} records: either they are a few minutes old, or all checkpoints are gone`,
  ]
}

interface Followed {
  readonly end: ChainEnd
  readonly problems: readonly string[]
  readonly firstBadSeq?: number
}

async function follow(
  { reader, progress }: VerifyOptions,
  start: ChainEnd,
  expectations: readonly ChainEnd[],
): Promise<Followed> {
  let end: ChainEnd = { seq: start.seq, hash: start.hash }
  for (;;) {
    const due = expectations.filter(({ seq }) => seq > end.seq && seq <= end.seq + RECORDS_PER_STEP)
    const places = due.map(({ seq }) => seq)
    const check = await reader.run(checkChain, { from: end, limit: RECORDS_PER_STEP, links: places })
    const wrong = due.find(({ seq, hash }) =>
      check.links.some((link) => link.seq === seq && link.hash !== hash),
    )
    if (wrong !== undefined) {
      const right = due.findLast(({ seq }) => seq < wrong.seq)
      return rewritten(right ?? end, wrong)
    }
    end = check.end
    if (check.broken !== undefined) {
      const { seq, problem } = check.broken
      return { end, problems: [`record ${seq}: ${problem}`], firstBadSeq: seq }
    }
    progress?.(end.seq - start.seq)
    if (check.checked < RECORDS_PER_STEP) return { end, ...missingTail(end, expectations) }
  }
}

/**
 * The chain is consistent but differs from a checkpoint. `right` is the last position known to be
 * correct.
 */
function rewritten({ seq, hash }: ChainEnd, wrong: ChainEnd): Followed {
  const first = seq + 1
  const place = first === wrong.seq ? `record ${first}` : `record ${wrong.seq}, or one from ${first} on,`
  const problem = `${place} was rewritten: the hash of record ${wrong.seq} differs from its checkpoint`
  return { end: { seq, hash }, problems: [problem], firstBadSeq: first }
}

function missingTail(end: ChainEnd, expectations: readonly ChainEnd[]): Omit<Followed, 'end'> {
  const last = expectations.at(-1)
  if (last === undefined || last.seq <= end.seq) return { problems: [] }
  const problem = `records ${end.seq + 1} to ${last.seq} are missing at the end: record ${last.seq} was there when its checkpoint was written`
  return { problems: [problem], firstBadSeq: end.seq + 1 }
}
