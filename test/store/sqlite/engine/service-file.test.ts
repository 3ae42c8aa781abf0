import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'

import { queryBuilder } from '../../../../src/store/sqlite/engine/service-file.js'

interface Tables {
  readonly numbers: { readonly value: number }
}

test('a query that is asked again is not prepared again, and gives what is there by then', async () => {
  const database = new Database(':memory:')
  database.exec('create table numbers (value integer)')
  const prepare = vi.spyOn(database, 'prepare')
  const db = queryBuilder<Tables>(database)
  const above = (least: number) => db.selectFrom('numbers').selectAll().where('value', '>=', least).execute()
  const add = (value: number) => db.insertInto('numbers').values({ value }).execute()

  await add(1)
  expect(await above(1)).toEqual([{ value: 1 }])
  await add(2)
  expect(await above(1)).toEqual([{ value: 1 }, { value: 2 }])
  expect(await above(2)).toEqual([{ value: 2 }])
  expect(prepare).toHaveBeenCalledTimes(2)
  await db.destroy()
  expect(database.open).toBe(false)
})
