import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { makeFreeSpace } from '../../../../src/store/sqlite/maintenance/sqlite-context.js'

const ANY_SIZE = 2 ** 40
const ANY_TIME = 60_000

let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidegate-free-space-'))
  database = openDatabase({
    ...{ path: join(folder, 'some.db'), applicationId: 1, synchronous: 'normal', pageSize: 4096 },
    incrementalVacuum: true,
  })
  database.exec('create table records (body blob)')
  const insert = database.prepare('insert into records values (zeroblob(3000))')
  for (let count = 0; count < 400; count += 1) insert.run()
  database.exec('delete from records where rowid % 4 <> 0 or rowid < 300')
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('free space', () => {
  it('is given back in one step where there is time for it, and then none is left', () => {
    const before = freePages()
    expect(before).toBeGreaterThan(100)
    expect(makeFreeSpace(database).release(ANY_SIZE, ANY_TIME)).toBe(false)
    expect(freePages()).toBe(0)
  })

  it('is given back in part where a step has no time, however short', () => {
    const before = freePages()
    const freeSpace = makeFreeSpace(database)
    expect(freeSpace.release(ANY_SIZE, 0)).toBe(true)
    expect(freePages()).toBeLessThan(before)
    let steps = 1
    while (freeSpace.release(ANY_SIZE, 0)) steps += 1
    expect(steps).toBeGreaterThan(5)
    expect(freePages()).toBe(0)
  })

  it('is given back up to what a step may give', () => {
    const before = freePages()
    expect(makeFreeSpace(database).release(20 * 4096, ANY_TIME)).toBe(true)
    expect(freePages()).toBe(before - 20)
  })
})

function freePages(): number {
  return Number(database.pragma('freelist_count', { simple: true }))
}
