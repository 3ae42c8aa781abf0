import type { AuditCheckpoint, ChainEnd } from '../store/ports/audit-store.js'
import type { Reader } from '../store/ports/readers.js'
import { checkChain, readCheckpoints } from './audit-operations.js'
import { checkSignatures } from './checkpoint-signature.js'

export interface VerifyOptions {
  readonly reader: Reader
  /** SPKI in DER, in Base64: checkpoints must then be signed with one of them. */
  readonly publicKeys?: readonly string[] | undefined
  /** Whether a trail without any checkpoint is a finding: it is nothing new, or all that proved it is gone. */
  readonly expectsSignatures?: boolean | undefined
  /** A link that the chain must have, kept outside of the database. */
  readonly expected?: ChainEnd | undefined
  readonly progress?: ((checked: number) => void) | undefined
}

/** What a verification found. */
export interface Verification {
  readonly isIntact: boolean
  /** What is wrong, most telling first. */
  readonly problems: readonly string[]
  /** The first record that was changed, removed or moved. */
  readonly firstBadSeq?: number | undefined
  readonly checked: number
  /** The last record that is right. */
  readonly end: ChainEnd
  /** The record before the first: 0, or the last that retention removed. */
  readonly startsAfterSeq: number
  readonly checkpoints: CheckpointCounts
}

/** How many checkpoints there are, and how far their signatures reach. */
export interface CheckpointCounts {
  readonly total: number
  readonly signed: number
  /** Whether there was a key to check them with: without one whoever can write to the file can write a trail of their own. */
  readonly signaturesChecked: boolean
  readonly verified: number
  /** The last record that a verified checkpoint stands for; 0 when there is none. */
  readonly verifiedThroughSeq: number
}

/** Little enough that a search in between does not wait for long. */
const RECORDS_PER_STEP = 5000
const START: ChainEnd = { seq: 0, hash: '0'.repeat(64) }

/**
 * Follows the chain from its beginning, or from what retention left, to its end, and holds it against all checkpoints. Where retention began
 * to remove records meanwhile, it begins again from what that leaves.
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

/** A trail that has been there for some minutes has checkpoints: without any, it was emptied or is another one. */
function emptiedTrail({ seq }: ChainEnd): string[] {
  return [
    seq === 0
      ? 'the trail is empty, without any checkpoint: either nothing was recorded yet, or all of it is gone'
      : `no checkpoint proves the ${seq} records: either they are of the last minutes, or all checkpoints are gone`,
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

/** The chain is whole, and yet another one than a checkpoint saw: `right` is the last place that is known to be right. */
function rewritten({ seq, hash }: ChainEnd, wrong: ChainEnd): Followed {
  const first = seq + 1
  const place = first === wrong.seq ? `record ${first}` : `record ${wrong.seq}, or one from ${first} on,`
  const problem = `${place} was written anew: the hash of record ${wrong.seq} is not what its checkpoint says`
  return { end: { seq, hash }, problems: [problem], firstBadSeq: first }
}

function missingTail(end: ChainEnd, expectations: readonly ChainEnd[]): Omit<Followed, 'end'> {
  const last = expectations.at(-1)
  if (last === undefined || last.seq <= end.seq) return { problems: [] }
  const problem = `records ${end.seq + 1} to ${last.seq} are missing at the end: record ${last.seq} was there when its checkpoint was written`
  return { problems: [problem], firstBadSeq: end.seq + 1 }
}
