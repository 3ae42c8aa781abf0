import type { Kysely, Selectable } from 'kysely'
import { AppError } from '../../errors/app-error.js'
import type { AuditCheckpoint, AuditHead, AuditRecord, CheckpointReason } from '../ports/audit-store.js'
import { prepareQuery } from '../queries/prepared-query.js'
import { HEAD_COLUMN_NAMES, toHead } from '../tables/audit-table.js'
import type { AuditCheckpointTable } from '../tables/audit-table.js'
import { unpackBody } from '../tables/packed-body.js'
import type { ServiceDatabase } from '../tables/service-database.js'

/** Reads of the trail that are the same in both engines. */
export interface TrailQueries {
  /** One record, or undefined. */
  readonly find: (seq: number) => Promise<AuditRecord | undefined>
  /** The bodies of records, in the order of `seqs`. Raises `not_found`. */
  readonly bodies: (seqs: readonly number[]) => Promise<readonly Uint8Array[]>
  /** At most `limit` records after a position, in order, without their bodies. */
  readonly headsAfter: (seq: number, limit: number) => Promise<readonly AuditHead[]>
  /** The number of the oldest record; undefined without any. */
  readonly firstSeq: () => Promise<number | undefined>
  /** All checkpoints from a record on, in order. */
  readonly checkpoints: (fromSeq: number) => Promise<readonly AuditCheckpoint[]>
  readonly lastCheckpoint: () => Promise<AuditCheckpoint | undefined>
  /**
   * The last record that was stored before a time, 0 without any. `endSeq` is the newest record.
   */
  readonly lastStoredBefore: (recordedMs: number, endSeq: number) => Promise<number>
}

/** Reads the trail on any connection. */
export function makeTrailQueries(db: Kysely<ServiceDatabase>): TrailQueries {
  const record = prepareQuery(db, ({ seq }: { seq: number }) =>
    db.selectFrom('audit').selectAll().where('seq', '=', seq),
  )
  const heads = prepareQuery(db, ({ seq, limit }: { seq: number; limit: number }) =>
    db.selectFrom('audit').select(HEAD_COLUMN_NAMES).where('seq', '>', seq).orderBy('seq').limit(limit),
  )
  const newestCheckpoint = prepareQuery(db, () =>
    db.selectFrom('audit_checkpoints').selectAll().orderBy('seq', 'desc').orderBy('id', 'desc').limit(1),
  )
  return {
    find: async (seq) => {
      const row = await record.first({ seq })
      return row && { ...toHead(row), body: unpackBody(row.body, row.body_bytes) }
    },
    bodies: (seqs) => readBodies(db, seqs),
    headsAfter: async (seq, limit) => (await heads.all({ seq, limit })).map(toHead),
    firstSeq: async () => {
      const first = db.selectFrom('audit').select('seq').orderBy('seq').limit(1)
      return (await first.executeTakeFirst())?.seq
    },
    checkpoints: async (fromSeq) => {
      const query = db.selectFrom('audit_checkpoints').selectAll().where('seq', '>=', fromSeq)
      return (await query.orderBy('seq').orderBy('id').execute()).map(toCheckpoint)
    },
    lastCheckpoint: async () => {
      const row = await newestCheckpoint.first({})
      return row && toCheckpoint(row)
    },
    lastStoredBefore: (recordedMs, endSeq) => lastStoredBefore(db, recordedMs, endSeq),
  }
}

/** Adds a checkpoint. Raises `conflict` unless the record has the checkpoint's link. */
export async function addCheckpoint(
  db: Kysely<ServiceDatabase>,
  { seq, hash, atMs, reason, keyId, signature }: AuditCheckpoint,
): Promise<void> {
  const stored = await db.selectFrom('audit').select('hash').where('seq', '=', seq).executeTakeFirst()
  const link = Buffer.from(hash, 'hex')
  if (stored === undefined || !link.equals(stored.hash)) {
    throw new AppError('conflict', `audit record ${seq} has another hash than the checkpoint`)
  }
  const row = { seq, hash: link, at_ms: atMs, reason, key_id: keyId ?? null, signature: signature ?? null }
  await db.insertInto('audit_checkpoints').values(row).execute()
}

/**
 * Raises `conflict` without a checkpoint of retention at a record: the records left must start from
 * a known link.
 */
export async function requireRetentionCheckpoint(db: Kysely<ServiceDatabase>, seq: number): Promise<void> {
  const found = db.selectFrom('audit_checkpoints').select('id').where('seq', '=', seq)
  if ((await found.where('reason', '=', 'retention').executeTakeFirst()) !== undefined) return
  throw new AppError('conflict', `audit record ${seq} has no checkpoint of retention`)
}

async function readBodies(db: Kysely<ServiceDatabase>, seqs: readonly number[]): Promise<Uint8Array[]> {
  if (seqs.length === 0) return []
  const query = db.selectFrom('audit').select(['seq', 'body', 'body_bytes']).where('seq', 'in', seqs)
  const rows = new Map((await query.execute()).map((row) => [row.seq, row]))
  return seqs.map((seq) => {
    const row = rows.get(seq)
    if (row === undefined) throw new AppError('not_found', `audit record ${seq} no longer exists`)
    return unpackBody(row.body, row.body_bytes)
  })
}

/** Searches by halving, since later records have later times. */
async function lastStoredBefore(
  db: Kysely<ServiceDatabase>,
  recordedMs: number,
  endSeq: number,
): Promise<number> {
  const select = async (seq: number) =>
    await db
      .selectFrom('audit')
      .select(['seq', 'recorded_ms'])
      .where('seq', '>=', seq)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst()
  const first = ((await select(0))?.seq ?? endSeq + 1) - 1
  if (first >= endSeq) return 0
  let low = first
  let high = endSeq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const row = await select(middle)
    if (row !== undefined && row.recorded_ms < recordedMs) low = middle
    else high = middle - 1
  }
  return low === first ? 0 : low
}

function toCheckpoint(row: Selectable<AuditCheckpointTable>): AuditCheckpoint {
  return {
    seq: row.seq,
    hash: Buffer.from(row.hash).toString('hex'),
    atMs: row.at_ms,
    reason: row.reason as CheckpointReason,
    keyId: row.key_id ?? undefined,
    signature: row.signature ?? undefined,
  }
}
