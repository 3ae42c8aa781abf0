import type { Kysely } from 'kysely'
import { AppError } from '../../errors/app-error.js'
import type { ExceptionRepository } from '../ports/exception-store.js'
import { fromException, toException } from '../tables/exception-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'
import { makeExceptionReader } from './exception-reader.js'

/** Makes the repository of exceptions on a connection that writes. */
export function makeExceptionRepository(db: Kysely<ServiceDatabase>): ExceptionRepository {
  const rows = () => db.selectFrom('exceptions').selectAll()
  return {
    ...makeExceptionReader(db),
    find: async (id) => {
      const row = await rows().where('id', '=', id).executeTakeFirst()
      return row && toException(row)
    },
    ofPackage: async (name, afterMs) => {
      const found = rows().where('package', '=', name).where('until_ms', '>', afterMs).orderBy('id')
      return (await found.execute()).map(toException)
    },
    count: async (afterMs) => {
      const counted = db
        .selectFrom('exceptions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('until_ms', '>', afterMs)
      return (await counted.executeTakeFirst())?.count ?? 0
    },
    add: async (added) => {
      const inserted = db.insertInto('exceptions').values(fromException(added)).returning('id')
      const row = await inserted.executeTakeFirst()
      if (row === undefined) throw new AppError('internal', 'the store gave an exception no id')
      return { ...added, id: row.id }
    },
    update: async (changed) => {
      await db.updateTable('exceptions').set(fromException(changed)).where('id', '=', changed.id).execute()
    },
    remove: async (id) => {
      await db.deleteFrom('exceptions').where('id', '=', id).execute()
    },
    expiring: async (afterMs, beforeMs, limit) => {
      const found = rows()
        .where('until_ms', '>', afterMs)
        .where('until_ms', '<=', beforeMs)
        .where('noticed_ms', 'is', null)
        .orderBy('until_ms')
        .orderBy('id')
        .limit(limit)
      return (await found.execute()).map(toException)
    },
    removeEnded: async (beforeMs) => {
      const removal = db.deleteFrom('exceptions').where('until_ms', '<', beforeMs)
      return Number((await removal.executeTakeFirst()).numDeletedRows)
    },
  }
}
