import { AppError } from '../errors/app-error.js'
import type { AuditHead } from '../store/ports/audit-store.js'
import type { DecisionHead } from '../store/ports/decision-store.js'
import type { Reader } from '../store/ports/readers.js'
import { readPage } from './audit-operations.js'
import { DECISION_KIND } from './record-decisions.js'

export interface TimelineDeps {
  readonly reader: Reader
  /**
   * Returns the first decisions about an execution, oldest first; absent without a decision log.
   */
  readonly decisionsOf: ((executionId: string, limit: number) => Promise<readonly DecisionHead[]>) | undefined
}

/** An event of an execution. */
export interface TimelineEntry {
  /** ISO 8601 in UTC. */
  readonly at: string
  readonly source: string
  readonly kind: string
  readonly stage?: string | undefined
  readonly user?: string | undefined
  readonly status?: string | undefined
  /** The audit record; absent for a decision that is not in the trail. */
  readonly auditSeq?: number | undefined
  readonly decisionId?: string | undefined
  /** Path of the policy while the decision is in the decision log. */
  readonly path?: string
}

export interface Timeline {
  readonly executionId: string
  readonly application: string | undefined
  readonly pipeline: string | undefined
  readonly entries: readonly TimelineEntry[]
  /** Whether later entries are omitted. */
  readonly isTruncated: boolean
}

/** Highest number of records, and of decisions. */
const MAX_SHOWN = 2000

/**
 * Returns everything known about an execution in the order of time: events, approvals, analyses and
 * decisions of the trail, and further decisions of the decision log. Raises `not_found` if there is
 * nothing.
 */
export async function executionTimeline(deps: TimelineDeps, executionId: string): Promise<Timeline> {
  const query = { filter: { executionId }, order: 'oldest_first', limit: MAX_SHOWN + 1 } as const
  const [records, decisions] = await Promise.all([
    deps.reader.run(readPage, query),
    deps.decisionsOf?.(executionId, MAX_SHOWN + 1) ?? [],
  ])
  if (records.length + decisions.length === 0) {
    throw new AppError('not_found', `there is no record of the execution ${executionId}`)
  }
  const untilMs = Math.min(firstLeftOut(records), firstLeftOut(decisions))
  const entries = merge(records, decisions, untilMs)
  return {
    executionId,
    application:
      records.find(({ application }) => application !== undefined)?.application ??
      decisions.find(({ application }) => application !== null)?.application ??
      undefined,
    pipeline: records.find(({ pipeline }) => pipeline !== undefined)?.pipeline,
    entries,
    isTruncated: untilMs !== Infinity,
  }
}

/** Time of the first omitted entry. Later entries are omitted, too, to avoid a gap. */
function firstLeftOut(sorted: readonly { readonly timeMs: number }[]): number {
  return sorted[MAX_SHOWN]?.timeMs ?? Infinity
}

/** Merges a decision and its audit record into one entry. */
function merge(
  records: readonly AuditHead[],
  decisions: readonly DecisionHead[],
  untilMs: number,
): readonly TimelineEntry[] {
  const decided = new Map(decisions.map((decision) => [decision.decisionId, decision]))
  const recorded = new Map<string | undefined, AuditHead>()
  for (const record of records) {
    if (isDecision(record) && decided.has(record.eventId ?? '')) recorded.set(record.eventId, record)
  }
  const others = records.filter((record) => recorded.get(record.eventId) !== record)
  const isShown = ({ timeMs }: { readonly timeMs: number }): boolean => timeMs <= untilMs
  // At the same millisecond, a decision precedes the record of its effect.
  const entries = [
    ...decisions.filter(isShown).map((decision) => fromDecision(decision, recorded.get(decision.decisionId))),
    ...others.filter(isShown).map(fromRecord),
  ]
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function isDecision({ source, kind }: AuditHead): boolean {
  return source === 'policy' && kind === DECISION_KIND
}

function fromRecord(record: AuditHead): TimelineEntry {
  const { seq, timeMs, source, kind, stage, user, status, eventId } = record
  return {
    at: new Date(timeMs).toISOString(),
    source,
    kind,
    stage,
    user,
    status,
    auditSeq: seq,
    ...(isDecision(record) && { decisionId: eventId }),
  }
}

function fromDecision(decision: DecisionHead, record: AuditHead | undefined): TimelineEntry {
  const { decisionId, timeMs, path, outcome, caller } = decision
  return {
    at: new Date(timeMs).toISOString(),
    source: 'policy',
    kind: DECISION_KIND,
    user: caller ?? undefined,
    status: outcome,
    auditSeq: record?.seq,
    decisionId,
    path,
  }
}
