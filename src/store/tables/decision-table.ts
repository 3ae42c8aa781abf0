import type {
  DecisionHead,
  DecisionKind,
  DecisionOutcome,
  DecisionPosition,
  StoredDecision,
} from '../ports/decision-store.js'

/** The decision log's own table, as Kysely sees it. */
export interface DecisionTable {
  seq: number
  decision_id: string
  time_ms: number
  kind: string
  path: string
  revision: string
  outcome: string
  application: string | null
  caller: string | null
  duration_ns: number
  request_id: string | null
  error: string | null
  input_bytes: number | null
  input_truncated: number
  result_truncated: number
  result: Uint8Array | null
  input: Uint8Array | null
  execution_id: string | null
  nd_builtin_cache: Uint8Array | null
  packages: Uint8Array | null
  trace_id: string | null
}

/** Columns of a decision's head, without the execution. */
export type DecisionHeadRow = Pick<
  DecisionTable,
  'seq' | 'time_ms' | 'decision_id' | 'kind' | 'path' | 'revision' | 'outcome' | 'application' | 'caller'
>

export function toPosition(row: Pick<DecisionTable, 'time_ms' | 'seq'>): DecisionPosition {
  return { timeMs: row.time_ms, seq: row.seq }
}

export function toDecisionHead(row: DecisionHeadRow, executionId: string | null): DecisionHead {
  return {
    ...toPosition(row),
    decisionId: row.decision_id,
    kind: row.kind as DecisionKind,
    path: row.path,
    revision: row.revision,
    outcome: row.outcome as DecisionOutcome,
    application: row.application,
    executionId,
    caller: row.caller,
  }
}

export function toStoredDecision(row: DecisionTable): StoredDecision {
  return {
    ...toDecisionHead(row, row.execution_id),
    durationNs: row.duration_ns,
    requestId: row.request_id,
    traceId: row.trace_id,
    error: row.error,
    input: row.input,
    inputBytes: row.input_bytes,
    inputTruncated: row.input_truncated !== 0,
    result: row.result,
    resultTruncated: row.result_truncated !== 0,
    ndBuiltinCache: row.nd_builtin_cache,
    packages: row.packages,
  }
}
