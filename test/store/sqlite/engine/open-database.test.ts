import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../../../src/errors/app-error.js'
import { openDatabase, openReadOnly } from '../../../../src/store/sqlite/engine/open-database.js'
import type { OpenDatabaseOptions } from '../../../../src/store/sqlite/engine/open-database.js'
import { temporaryFolder } from '../../../support/decisions.js'

const newPath = () => join(temporaryFolder(), 'data', 'decisions.db')
const options = (path: string): OpenDatabaseOptions => ({ path, synchronous: 'normal', applicationId: 77 })

function open(path: string, overrides: Partial<OpenDatabaseOptions> = {}) {
  const database = openDatabase({ ...options(path), ...overrides })
  onTestFinished(() => void database.close())
  return database
}

/** A database with some pages of rows, closed again. */
function written(path: string): string {
  const database = openDatabase(options(path))
  database.exec('create table t (a)')
  for (let row = 0; row < 100; row += 1) database.prepare('insert into t values (?)').run('x'.repeat(1000))
  database.close()
  return path
}

const rowsIn = (database: Database.Database) => database.prepare('select count(*) from t').pluck().get()

describe('opening a database', () => {
  it('creates a file and its folder that only their owner can read', () => {
    const path = newPath()
    open(path).exec('create table t (a)')
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    for (const file of ['', '-wal', '-shm']) expect(statSync(path + file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path)).sort()).toEqual([
      'decisions.db',
      'decisions.db-shm',
      'decisions.db-wal',
    ])
  })

  it('sets what the caller asked for', () => {
    const database = open(newPath(), {
      pageSize: 32_768,
      incrementalVacuum: true,
      synchronous: 'full',
      walAutocheckpointPages: 99,
      busyTimeoutMs: 123,
    })
    const names = [
      'page_size',
      'auto_vacuum',
      'journal_mode',
      'synchronous',
      'foreign_keys',
      'wal_autocheckpoint',
    ]
    const values = [...names, 'busy_timeout'].map((name) => database.pragma(name, { simple: true }))
    expect(values).toEqual([32_768, 2, 'wal', 2, 1, 99, 123])
  })

  it('opens again what it wrote', () => {
    expect(rowsIn(open(written(newPath())))).toBe(100)
  })

  it('reads next to the writer, and only reads', () => {
    const path = newPath()
    const writer = open(path)
    writer.exec('create table t (a)')
    const reader = openReadOnly(options(path))
    onTestFinished(() => void reader.close())
    writer.exec('insert into t values (1)')
    expect(rowsIn(reader)).toBe(1)
    expect(() => reader.exec('insert into t values (2)')).toThrow('readonly')
  })

  it.each([
    {
      name: 'is no database',
      spoil: (path: string) =>
        writeFileSync(path, 'not a database, but long enough to be looked at'.repeat(50)),
      message: 'open decisions.db: the file is damaged or no database',
    },
    {
      name: 'was cut short',
      spoil: (path: string) => truncateSync(written(path), 20_000),
      message: 'open decisions.db: the file is damaged or no database',
    },
    {
      name: 'was emptied',
      spoil: (path: string) => truncateSync(written(path), 0),
      message: 'open decisions.db: the file is empty: restore it from a backup or remove it',
    },
    {
      name: 'belongs to another program',
      spoil: (path: string) => new Database(path).exec('create table theirs (a)').close(),
      message: 'open decisions.db: the file belongs to another program',
    },
    {
      name: 'is a folder',
      spoil: (path: string) => mkdirSync(path),
      message: 'open decisions.db: it is not a regular file',
    },
  ])('refuses a file that $name, and leaves it as it is', ({ spoil, message }) => {
    const path = newPath()
    mkdirSync(dirname(path))
    spoil(path)
    const content = () => (statSync(path).isFile() ? readFileSync(path) : 'folder')
    const before = content()
    expect(() => openDatabase(options(path))).toThrow(AppError)
    expect(() => openDatabase(options(path))).toThrow(message)
    expect(content()).toEqual(before)
  })

  it('says that another process holds the file', () => {
    const path = written(newPath())
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.pragma('locking_mode = exclusive')
    other.exec('insert into t values (1)')
    expect(() => openDatabase({ ...options(path), busyTimeoutMs: 1 })).toThrow(
      'open decisions.db: the file is locked by another process',
    )
  })

  it('says that the folder cannot be made', () => {
    const path = join(temporaryFolder(), 'file')
    writeFileSync(path, '')
    expect(() => openDatabase(options(join(path, 'decisions.db')))).toThrow(
      /open decisions.db: .*ENOTDIR|EEXIST/,
    )
  })
})
