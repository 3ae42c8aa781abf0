import { wordVector } from '../postgres/audit/search-words.js'
import { unpackBody } from '../tables/packed-body.js'

/** A row as one engine gives it and the other takes it. */
export type CopiedRow = Readonly<Record<string, unknown>>

/** A table that both engines have. */
export interface CopiedTable {
  readonly name: string
  /** In which its rows are read. */
  readonly order: string
  /** Whether its `id` is a number that the database gives. */
  readonly isNumbered: boolean
  /** What the rows hold beyond those of SQLite. */
  readonly more?: (row: CopiedRow) => CopiedRow
}

/** All that is copied; a table comes behind those that it refers to. What only finds records quickly is made anew. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'gates', order: 'id', isNumbered: false },
  { name: 'gate_instances', order: 'id', isNumbered: true },
  { name: 'gate_papers', order: 'instance_id', isNumbered: false },
  { name: 'gate_reviews', order: 'id', isNumbered: true },
  { name: 'outbox', order: 'id', isNumbered: true },
  { name: 'registry_entries', order: 'id', isNumbered: true },
  { name: 'registry_versions', order: 'entry_id, version', isNumbered: false },
  { name: 'event_queue', order: 'seq', isNumbered: false },
  { name: 'analysis_definitions', order: 'application', isNumbered: false },
  { name: 'analysis_templates', order: 'type, name, sha1', isNumbered: false },
  { name: 'analysis_log_history', order: 'application, key', isNumbered: false },
  { name: 'analysis_plan_parts', order: 'sha256', isNumbered: false },
  { name: 'analysis_runs', order: 'id', isNumbered: true },
  { name: 'analysis_looks', order: 'run_id, look', isNumbered: false },
  { name: 'audit', order: 'seq', isNumbered: false, more: searchWords },
  { name: 'audit_checkpoints', order: 'id', isNumbered: true },
]

function searchWords({ body, body_bytes: bytes }: CopiedRow): CopiedRow {
  return { words: wordVector(unpackBody(body as Uint8Array, Number(bytes))) }
}
