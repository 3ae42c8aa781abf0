import { wordVector } from '../postgres/audit/search-words.js'
import { TRAIL } from '../postgres/audit/trail-months.js'
import type { Session } from '../postgres/engine/session.js'
import { monthOf } from '../postgres/months/month.js'
import { addMonths } from '../postgres/months/monthly-table.js'
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
  /** Makes room for some rows. */
  readonly makeRoom?: (session: Session, rows: readonly CopiedRow[]) => Promise<void>
  /** What follows from all of its rows. */
  readonly follow?: string
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
  {
    name: TRAIL.name,
    order: 'seq',
    isNumbered: false,
    more: searchWords,
    makeRoom: addTrailMonths,
    follow:
      'insert into audit_event_ids (event_id, seq) select event_id, seq from audit where event_id is not null order by seq',
  },
  { name: 'audit_checkpoints', order: 'id', isNumbered: true },
]

async function addTrailMonths(session: Session, rows: readonly CopiedRow[]): Promise<void> {
  const months = rows.map((row) => monthOf(TRAIL.name, Number(row['recorded_ms'])))
  const missing = new Map(months.map((month) => [month.name, month]))
  await addMonths(session, TRAIL, [...missing.values()])
}

function searchWords({ body, body_bytes: bytes }: CopiedRow): CopiedRow {
  return { words: wordVector(unpackBody(body as Uint8Array, Number(bytes))) }
}
