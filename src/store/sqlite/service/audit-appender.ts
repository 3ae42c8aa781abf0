import { deflateRawSync } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import type { AuditAppender, AuditEntry, AuditReceipt } from '../../audit-store.js'
import { CHAIN_START, chainHash } from './audit-chain.js'
import type { ChainedRow } from './audit-chain.js'
import type { Forgetful } from './execute-batch.js'

interface ChainEnd {
  readonly seq: number
  readonly hash: Uint8Array
}

/** Level 1: nearly the size of the default level for JSON, at less cost. */
const COMPRESSION = { level: 1 }

/** Appends records to the trail on a connection that writes. */
export function makeAuditAppender(database: Database): AuditAppender & Forgetful {
  const selectEvent = database.prepare<[string], { seq: number }>('select seq from audit where event_id = ?')
  const selectEnd = database.prepare<[], ChainEnd>('select seq, hash from audit order by seq desc limit 1')
  const insert = database.prepare<[ChainedRow & { readonly hash: Uint8Array }]>(
    `insert into audit (seq, time_ms, source, kind, application, pipeline, execution_id, stage, user, status, origin, event_id, hash, body)
     values (@seq, @time_ms, @source, @kind, @application, @pipeline, @execution_id, @stage, @user, @status, @origin, @event_id, @hash, @body)`,
  )
  let end: ChainEnd | undefined
  const append = (entry: AuditEntry): AuditReceipt => {
    const kept = entry.eventId === undefined ? undefined : selectEvent.get(entry.eventId)
    if (kept !== undefined) return { seq: kept.seq, isNew: false }
    end ??= selectEnd.get() ?? { seq: 0, hash: CHAIN_START }
    const row = toRow(end.seq + 1, entry)
    const hash = chainHash(end.hash, row)
    insert.run({ ...row, hash })
    end = { seq: row.seq, hash }
    return { seq: row.seq, isNew: true }
  }
  return {
    append: (entry) => Promise.resolve(append(entry)),
    forget: () => {
      end = undefined
    },
  }
}

function toRow(seq: number, entry: AuditEntry): ChainedRow {
  return {
    seq,
    time_ms: entry.timeMs,
    source: entry.source,
    kind: entry.kind,
    application: entry.application ?? null,
    pipeline: entry.pipeline ?? null,
    execution_id: entry.executionId ?? null,
    stage: entry.stage ?? null,
    user: entry.user ?? null,
    status: entry.status ?? null,
    origin: entry.origin ?? null,
    event_id: entry.eventId ?? null,
    body: deflateRawSync(entry.body, COMPRESSION),
  }
}
