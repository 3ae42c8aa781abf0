import { inflateRawSync } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import type { AuditReader, AuditRecord, AuditSource } from '../../audit-store.js'
import type { AuditTable } from './audit-table.js'

/** Reads the trail on any connection. */
export function makeAuditReader(database: Database): AuditReader {
  const selectOne = database.prepare<[number], AuditTable>('select * from audit where seq = ?')
  return {
    find: (seq) => {
      const row = selectOne.get(seq)
      return Promise.resolve(row === undefined ? undefined : toRecord(row))
    },
  }
}

function toRecord(row: AuditTable): AuditRecord {
  return {
    seq: row.seq,
    timeMs: row.time_ms,
    source: row.source as AuditSource,
    kind: row.kind,
    application: row.application ?? undefined,
    pipeline: row.pipeline ?? undefined,
    executionId: row.execution_id ?? undefined,
    stage: row.stage ?? undefined,
    user: row.user ?? undefined,
    status: row.status ?? undefined,
    origin: row.origin ?? undefined,
    eventId: row.event_id ?? undefined,
    body: inflateRawSync(row.body),
    hash: Buffer.from(row.hash).toString('hex'),
  }
}
