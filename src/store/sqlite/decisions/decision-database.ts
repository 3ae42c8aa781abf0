import type { OpenDatabaseOptions } from '../engine/open-database.js'

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
}

/** All tables of `decisions.db`. */
export interface DecisionDatabase {
  decisions: DecisionTable
}

/** How `decisions.db` is opened; the figures behind the choice are in docs/performance.md, "Decision log". */
export function decisionDatabaseOptions(path: string): OpenDatabaseOptions {
  return {
    path,
    synchronous: 'normal',
    applicationId: 0x54_47_64_6c,
    pageSize: 32_768,
    incrementalVacuum: true,
    walAutocheckpointPages: 512,
  }
}
