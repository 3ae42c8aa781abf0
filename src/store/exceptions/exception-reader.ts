import type { Kysely } from 'kysely'
import type { ExceptionReader } from '../ports/exception-store.js'
import { toException } from '../tables/exception-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'

/** Reads exceptions on any connection. */
export function makeExceptionReader(db: Kysely<ServiceDatabase>): ExceptionReader {
  return {
    all: async () => (await db.selectFrom('exceptions').selectAll().orderBy('id').execute()).map(toException),
    version: async () => {
      const row = await db
        .selectFrom('exceptions')
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.max('id').as('last'),
          fn.count<number>('approved_ms').as('approved'),
          fn.max('approved_ms').as('lastApproved'),
          fn.count<number>('noticed_ms').as('noticed'),
        ])
        .executeTakeFirst()
      if (row === undefined || row.count === 0) return undefined
      return [row.count, row.last, row.approved, row.lastApproved, row.noticed].join(' ')
    },
  }
}
