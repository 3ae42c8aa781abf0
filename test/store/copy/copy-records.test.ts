import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import { COPIED_TABLES } from '../../../src/store/copy/copy-records.js'
import { useSqliteStore } from '../../support/service-store.js'

const open = useSqliteStore()
/** Indexes, internal tables of an engine, and tables that are empty outside a transaction. */
const MADE_ANEW = /^(?:sqlite_|schema_|kysely_|audit_(?!checkpoints$))/

test('every table is copied with the numbers that its rows have, or made again', async () => {
  const { dataDir } = await open()
  const database = new Database(`${dataDir}/tidegate.db`, { readonly: true })
  const tables = database
    .prepare<[], { name: string; sql: string }>("select name, sql from sqlite_master where type = 'table'")
    .all()
  database.close()
  const kept = tables.filter(({ name }) => !MADE_ANEW.test(name))
  expect(namesOf(COPIED_TABLES)).toEqual(namesOf(kept))
  // The numbers of gates are the service's own.
  const numbered = kept.filter(
    ({ name, sql }) => /\bid"? integer[^,]*primary key/.test(sql) && name !== 'gates',
  )
  expect(namesOf(COPIED_TABLES.filter(({ isNumbered }) => isNumbered))).toEqual(namesOf(numbered))
})

function namesOf(tables: readonly { readonly name: string }[]): string[] {
  return tables.map(({ name }) => name).toSorted()
}
