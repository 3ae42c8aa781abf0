import type { Database } from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import type { TrailIndexes } from './trail-indexes.js'
import { HEAD_COLUMNS } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'

/**
 * Returns a function that deletes at most this many of the oldest records, up to the one that a retention checkpoint stands for. It
 * raises `conflict` without such a checkpoint: what is left must start from a link that is known.
 */
export function makePrefixDeleter(
  database: Database,
  { columns, eventIds, removeText }: TrailIndexes,
): (throughSeq: number, limit: number) => number {
  const checkpoint = database.prepare<[number]>(
    "select 1 from audit_checkpoints where seq = ? and reason = 'retention'",
  )
  const oldest = database.prepare<[number, number], AuditHeadRow>(
    `select ${HEAD_COLUMNS} from audit where seq <= ? order by seq limit ?`,
  )
  const allow = database.prepare<[number]>('insert into audit_retention values (?)')
  const forbid = database.prepare('delete from audit_retention')
  const remove = database.prepare<[number]>('delete from audit where seq <= ?')
  return (throughSeq, limit) => {
    if (checkpoint.get(throughSeq) === undefined) {
      throw new AppError('conflict', `no checkpoint of retention stands at audit record ${throughSeq}`)
    }
    const rows = oldest.all(throughSeq, limit)
    const last = rows.at(-1)
    if (last === undefined) return 0
    columns.drop(rows)
    for (const { event_id: eventId } of rows) if (eventId !== null) eventIds.drop(eventId)
    removeText(rows.map(({ seq }) => seq))
    allow.run(throughSeq)
    remove.run(last.seq)
    forbid.run()
    return rows.length
  }
}
