import type { Kysely } from 'kysely'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../../../src/store/sqlite/engine/migrate.js'
import type { Migrations } from '../../../../src/store/sqlite/engine/migrate.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { temporaryFolder } from '../../../support/decisions.js'

const creating = (table: string) => ({
  up: async (db: Kysely<unknown>) => {
    await db.schema.createTable(table).addColumn('a', 'integer').execute()
  },
})
const first: Migrations = { '0001-a': creating('a') }
const second: Migrations = { ...first, '0002-b': creating('b') }
const failing: Migrations = {
  ...first,
  '0002-b': creating('b'),
  '0003-c': { up: () => Promise.reject(new Error('no such thing')) },
}

function open(path = join(temporaryFolder(), 'test.db')) {
  const database = openDatabase({ path, synchronous: 'normal', applicationId: 1 })
  onTestFinished(() => void database.close())
  const tables = () =>
    database
      .prepare("select name from sqlite_schema where type = 'table' and length(name) = 1 order by name")
      .pluck()
      .all()
  return { path, database, tables }
}

describe('migrating a database', () => {
  it('runs what has not run yet, in order', async () => {
    const { database, tables } = open()
    await migrate(database, first)
    await migrate(database, second)
    await migrate(database, second)
    expect(tables()).toEqual(['a', 'b'])
  })

  it('leaves everything as it was when one migration fails', async () => {
    const { database, tables } = open()
    await migrate(database, first)
    await expect(migrate(database, failing)).rejects.toThrow('migrate test.db: no such thing')
    expect(tables()).toEqual(['a'])
    await migrate(database, second)
    expect(tables()).toEqual(['a', 'b'])
  })

  it('refuses a file that a newer release wrote', async () => {
    const { database } = open()
    await migrate(database, second)
    await expect(migrate(database, first)).rejects.toThrow('written by a newer release (it has "0002-b")')
  })

  it('waits for another connection that is migrating', async () => {
    const { database, path } = open()
    const other = open(path)
    other.database.pragma('busy_timeout = 0')
    database.exec('begin immediate')
    await expect(migrate(other.database, first)).rejects.toThrow('locked by another process')
    database.exec('rollback')
    await migrate(other.database, first)
    await migrate(database, first)
    expect(other.tables()).toEqual(['a'])
  })
})
