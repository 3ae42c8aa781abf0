import type { StoredEnd } from '../../trail/audit-chain.js'
import { newestRecord, readEnd } from '../audit/audit-reader.js'
import { LOCK_CLASS } from '../engine/migrate.js'
import type { Session } from '../engine/session.js'

/** State at the beginning of a writing transaction, read under the lock. */
export interface Begun {
  readonly end: StoredEnd
  /** The database's clock. */
  readonly nowMs: number
  readonly oldestWriter: number
}

const WRITING = 1
/**
 * With read committed, each statement sees all earlier commits, whatever the default isolation of
 * the database: the lock protects the rows read.
 */
const BEGIN = `begin isolation level read committed;
  select pg_advisory_xact_lock(${LOCK_CLASS}, ${WRITING});
  select oldest_writer, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from store_schema`

interface SchemaRow {
  readonly oldest_writer: number
  readonly now_ms: number
}

/**
 * Begins a transaction in one round trip and waits until no other replica writes. `endedMs` is a
 * known time of the last record: no later record is older.
 */
export async function beginWriting(session: Session, endedMs: number): Promise<Begun> {
  const [, , schemas, ends] = await session.script(`${BEGIN}; ${newestRecord(endedMs)}`)
  const schema = schemas?.rows[0] as SchemaRow | undefined
  const newest = ends?.rows[0] as StoredEnd | undefined
  return {
    end: newest ?? (await readEnd(session)),
    nowMs: schema?.now_ms ?? 0,
    oldestWriter: schema?.oldest_writer ?? 0,
  }
}
