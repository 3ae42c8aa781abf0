import { AppError } from '../errors.js'
import type { AuditHead } from '../store/audit-store.js'
import type { DecisionReadStore, StoredDecision } from '../store/decision-store.js'
import type { Reader } from '../store/readers.js'
import { readPage } from './audit-operations.js'

export interface TimelineDeps {
  readonly reader: Reader
  /** Absent where decisions are not kept. */
  readonly decisions: Pick<DecisionReadStore, 'page'> | undefined
}

/** One thing that happened in an execution. */
export interface TimelineEntry {
  /** ISO 8601 in UTC. */
  readonly at: string
  readonly source: string
  readonly kind: string
  readonly stage?: string | undefined
  readonly user?: string | undefined
  readonly status?: string | undefined
  /** Its audit record. */
  readonly auditSeq?: number
  readonly decisionId?: string
}

export interface Timeline {
  readonly executionId: string
  readonly application: string | undefined
  readonly pipeline: string | undefined
  readonly entries: readonly TimelineEntry[]
  /** Whether there is more than is shown. */
  readonly isTruncated: boolean
}

const MAX_RECORDS = 2000
const MAX_DECISIONS = 2000
const DECISIONS_PER_PAGE = 500
const BYTES_PER_PAGE = 8 * 1024 * 1024
/** A decision may be asked for before the first event has come, or after the last. */
const MARGIN_MS = 3_600_000

/**
 * All that is known of an execution, in the order of time: events, approvals and analyses of the trail, and the policy decisions
 * whose input names the execution. Raises `not_found` when there is nothing.
 */
export async function executionTimeline(deps: TimelineDeps, executionId: string): Promise<Timeline> {
  const query = { filter: { executionId }, order: 'oldest_first', limit: MAX_RECORDS } as const
  const records = await deps.reader.run(readPage, query)
  const decisions = await decisionsOf(deps, executionId, records)
  if (records.length + decisions.length === 0) {
    throw new AppError('not_found', `nothing is known of the execution ${executionId}`)
  }
  // Of one millisecond, a decision comes before the record of what it led to.
  const entries = [...decisions.map(fromDecision), ...records.map(fromRecord)]
  return {
    executionId,
    application: records.find(({ application }) => application !== undefined)?.application,
    pipeline: records.find(({ pipeline }) => pipeline !== undefined)?.pipeline,
    entries: entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    isTruncated: records.length === MAX_RECORDS || decisions.length === MAX_DECISIONS,
  }
}

/** Decisions have no column for executions: those of its application and time are looked through. */
async function decisionsOf(
  { decisions }: TimelineDeps,
  executionId: string,
  records: readonly AuditHead[],
): Promise<StoredDecision[]> {
  const times = records.map(({ timeMs }) => timeMs)
  if (decisions === undefined || times.length === 0) return []
  const application = records.find((record) => record.application !== undefined)?.application
  const filter = {
    application,
    fromMs: Math.min(...times) - MARGIN_MS,
    toMs: Math.max(...times) + MARGIN_MS,
  }
  const found: StoredDecision[] = []
  let lookedAt = 0
  let after
  do {
    const bounds = { rows: DECISIONS_PER_PAGE, bytes: BYTES_PER_PAGE }
    const page = await decisions.page(filter, bounds, after)
    found.push(...page.decisions.filter(({ input }) => isNamedIn(input, executionId)))
    lookedAt += page.decisions.length
    after = page.next
  } while (after !== undefined && lookedAt < MAX_DECISIONS)
  return found
}

function isNamedIn(input: Uint8Array | null, executionId: string): boolean {
  return input !== null && Buffer.from(input).includes(JSON.stringify(executionId))
}

function fromRecord({ seq, timeMs, source, kind, stage, user, status }: AuditHead): TimelineEntry {
  return { at: new Date(timeMs).toISOString(), source, kind, stage, user, status, auditSeq: seq }
}

function fromDecision({ decisionId, timeMs, path, outcome, caller }: StoredDecision): TimelineEntry {
  return {
    at: new Date(timeMs).toISOString(),
    source: 'policy',
    kind: `decision ${path}`,
    user: caller ?? undefined,
    status: outcome,
    decisionId,
  }
}
