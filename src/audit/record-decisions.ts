import type { OmissionReason, ReportedDecision } from '../decisions/decision-report.js'
import { jsonOrPrefix, printWithJsonText } from '../lib/json/text/json-text.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type { WriteOperation } from '../store/ports/transaction.js'

/** Decisions missing from the trail. */
export interface DecisionGap {
  readonly count: number
  readonly reasons: Readonly<Partial<Record<OmissionReason, number>>>
  /** Time of the first and last of them, in epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
}

/** Kind of the records of decisions. */
export const DECISION_KIND = 'policy.decision'
/** Kind of the records of gaps. */
const GAP_KIND = 'policy.decisions_not_recorded'

/** Records decisions, and the number of missing ones. */
export const recordDecisions: WriteOperation<
  { readonly decisions: readonly ReportedDecision[]; readonly gap: DecisionGap | undefined },
  null
> = {
  name: 'audit.record-decisions',
  apply: async ({ audit }, { decisions, gap }) => {
    for (const decision of decisions) {
      const entry = toEntry(decision)
      const { isNew } = await audit.append({ ...entry, eventId: decision.decisionId })
      // An event may have used the decision's id from the response. That must not prevent the
      // decision's record.
      if (!isNew) await audit.append(entry)
    }
    if (gap !== undefined) await audit.append(toGapEntry(gap))
    return null
  },
}

function toEntry(decision: ReportedDecision): AuditEntry {
  const { decisionId, timeMs, kind, path, revision, outcome, requestId, traceId, error } = decision
  const facts = { decisionId, operation: kind, path, revision, outcome }
  return {
    timeMs,
    source: 'policy',
    kind: DECISION_KIND,
    application: decision.application ?? undefined,
    executionId: decision.executionId ?? undefined,
    user: decision.caller ?? undefined,
    status: outcome,
    body: jsonBytes({
      ...facts,
      requestId: requestId ?? undefined,
      traceId: traceId ?? undefined,
      error: error ?? undefined,
      ...resultFacts(decision),
    }),
  }
}

function resultFacts({ result, isResultCut }: ReportedDecision): object {
  // Masking a number leaves invalid JSON.
  return result === null ? {} : jsonOrPrefix('result', Buffer.from(result), isResultCut)
}

function toGapEntry({ count, reasons, fromMs, toMs }: DecisionGap): AuditEntry {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
  return {
    timeMs: toMs,
    source: 'policy',
    kind: GAP_KIND,
    status: String(count),
    body: jsonBytes({ count, reasons, from, to }),
  }
}

function jsonBytes(value: object): Uint8Array {
  return new TextEncoder().encode(printWithJsonText(value))
}
