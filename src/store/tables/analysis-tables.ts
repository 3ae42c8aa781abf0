import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Generated, Selectable } from 'kysely'
import type {
  RunState,
  StoredDefinition,
  StoredFeedback,
  StoredRun,
  TemplateType,
  Verdict,
} from '../ports/analysis-store.js'

/** The tables of analyses, as Kysely sees them. */
export interface AnalysisTables {
  analysis_definitions: {
    application: string
    definition: string
    origin: 'configuration' | 'api'
    updated_ms: number
    updated_by: string | null
  }
  analysis_templates: {
    type: TemplateType
    name: string
    sha1: string
    body: string
    created_ms: number
    is_named: Generated<0 | 1>
  }
  analysis_log_history: { application: string; key: string; first_run: number; last_run: number }
  analysis_runs: RunTable
  analysis_plan_parts: { sha256: string; body: string }
  /** Tables and columns use the name `look` for an interval. */
  analysis_looks: {
    run_id: number
    look: number
    at_ms: number
    report: Uint8Array
    data: Uint8Array
    lines: Uint8Array
  }
}

interface RunTable {
  id: Generated<number>
  application: string
  execution_id: string | null
  owner: string | null
  state: RunState
  plan: string
  started_ms: number
  looks: number
  looks_done: number
  next_look_ms: number
  score: number | null
  verdict: Verdict | null
  message: string
  errors: string
  finished_ms: number | null
  updated_ms: number
  data_removed_ms: number | null
  look_attempts: Generated<number>
  unscored: string | null
  /** JSON. */
  feedback: string | null
}

/** Deflates a report, which is repetitive text. */
export function packText(text: string): Buffer {
  return deflateRawSync(text)
}

export function unpackText(packed: Uint8Array): string {
  return inflateRawSync(packed).toString()
}

export function toStoredRun(row: Selectable<RunTable>): StoredRun {
  return {
    id: row.id,
    application: row.application,
    executionId: row.execution_id ?? undefined,
    owner: row.owner ?? undefined,
    state: row.state,
    plan: row.plan,
    startedMs: row.started_ms,
    intervals: row.looks,
    intervalsDone: row.looks_done,
    nextIntervalMs: row.next_look_ms,
    score: row.score ?? undefined,
    unscored: row.unscored ?? undefined,
    verdict: row.verdict ?? undefined,
    message: row.message,
    errors: JSON.parse(row.errors) as string[],
    finishedMs: row.finished_ms ?? undefined,
    updatedMs: row.updated_ms,
    intervalAttempts: row.look_attempts,
    dataRemovedMs: row.data_removed_ms ?? undefined,
    feedback: row.feedback === null ? undefined : (JSON.parse(row.feedback) as StoredFeedback),
  }
}

export function toStoredDefinition(row: AnalysisTables['analysis_definitions']): StoredDefinition {
  return {
    application: row.application,
    definition: row.definition,
    origin: row.origin,
    updatedMs: row.updated_ms,
    updatedBy: row.updated_by ?? undefined,
  }
}
