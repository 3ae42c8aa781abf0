import type { Database } from 'better-sqlite3'

import { AppError } from '../../../errors/app-error.js'
import type { AuditReader, AuditSize } from '../../ports/audit-store.js'
import { unpackBody } from '../../tables/packed-body.js'
import { toCheckpoint } from '../../trail/checkpoint-row.js'
import type { AuditCheckpointTable } from '../../trail/checkpoint-row.js'
import { selectEnd, selectProgress } from './audit-end.js'
import { makePageReader } from './audit-search.js'
import { toHead } from '../../tables/audit-table.js'
import type { AuditTable } from '../../tables/audit-table.js'
import { makeTextPageReader } from './audit-text-search.js'
import { lastSeqBefore } from '../../trail/last-seq-before.js'
import { makeVerifier } from './audit-verifier.js'

type PackedBody = Pick<AuditTable, 'body' | 'body_bytes'>

/** Reads the trail on any connection. */
export function makeAuditReader(database: Database): AuditReader {
  const selectOne = database.prepare<[number], AuditTable>('select * from audit where seq = ?')
  const selectFrom = database.prepare<[number], { seq: number; recordedMs: number }>(
    'select seq, recorded_ms as recordedMs from audit where seq >= ? order by seq limit 1',
  )
  const selectBody = database.prepare<[number], PackedBody>(
    'select body, body_bytes from audit where seq = ?',
  )
  const selectCheckpoints = database.prepare<[number], AuditCheckpointTable>(
    'select * from audit_checkpoints where seq >= ? order by seq, id',
  )
  const selectNewestCheckpoint = database.prepare<[], AuditCheckpointTable>(
    'select * from audit_checkpoints order by seq desc, id desc limit 1',
  )
  const selectApplications = database
    .prepare<[number], string>(
      "select value from audit_values where name = 'application' order by value limit ?",
    )
    .pluck()
  const readEnd = selectEnd(database)
  const readProgress = selectProgress(database)
  const readPage = makePageReader(database)
  const readTextPage = makeTextPageReader(database)
  const checkChain = makeVerifier(database)
  return {
    find: (seq) => {
      const row = selectOne.get(seq)
      return Promise.resolve(
        row === undefined ? undefined : { ...toHead(row), body: unpackBody(row.body, row.body_bytes) },
      )
    },
    page: (query) => Promise.resolve(readPage(query)),
    textPage: (query) => Promise.resolve(readTextPage(query)),
    applications: (limit) => Promise.resolve(selectApplications.all(limit)),
    bodies: (seqs) => Promise.resolve(seqs.map((seq) => unpackFound(seq, selectBody.get(seq)))),
    check: (from, limit, places) => Promise.resolve(checkChain(from, limit, places)),
    checkpoints: (fromSeq) => Promise.resolve(selectCheckpoints.all(fromSeq).map(toCheckpoint)),
    lastCheckpoint: () => {
      const row = selectNewestCheckpoint.get()
      return Promise.resolve(row === undefined ? undefined : toCheckpoint(row))
    },
    end: () => {
      const { seq, hash } = readEnd()
      return Promise.resolve({ seq, hash: Buffer.from(hash).toString('hex') })
    },
    unindexed: () => {
      const { textSeq, endSeq } = readProgress()
      return Promise.resolve(endSeq - textSeq)
    },
    size: () => Promise.resolve(readSize(database, readEnd().seq)),
    lastRemovable: (recordedMs) =>
      lastSeqBefore((seq) => Promise.resolve(selectFrom.get(seq)), recordedMs, readEnd().seq),
  }
}

function unpackFound(seq: number, row: PackedBody | undefined): Uint8Array {
  if (row === undefined) throw new AppError('not_found', `audit record ${seq} is not there any more`)
  return unpackBody(row.body, row.body_bytes)
}

function readSize(database: Database, endSeq: number): AuditSize {
  const pragma = (name: string): number => Number(database.pragma(name, { simple: true }))
  const first = database.prepare<[], { seq: number | null }>('select min(seq) as seq from audit').get()
  return {
    firstSeq: first?.seq ?? endSeq + 1,
    endSeq,
    bytes: (pragma('page_count') - pragma('freelist_count')) * pragma('page_size'),
  }
}
