import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { IdleCheckpoint } from '../../../../src/store/sqlite/calls/write-connection.js'

const PAUSE_MS = 2
const LONG_PAUSE_MS = 10_000

let directory = ''
let database: Database.Database
let isThere = true

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  directory = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
  database = new Database(join(directory, 'a.db'))
  database.pragma('journal_mode = wal')
  database.exec('create table texts (text text)')
  isThere = true
})

afterEach(() => {
  vi.useRealTimers()
  database.close()
  rmSync(directory, { recursive: true })
})

function makeCheckpoint(): IdleCheckpoint {
  return new IdleCheckpoint(database, () => {
    if (!isThere) throw new Error('the file is gone')
  })
}

function write(checkpoint: IdleCheckpoint, calls: number): void {
  const insert = database.prepare('insert into texts (text) values (?)')
  for (let call = 0; call < calls; call++) insert.run('x'.repeat(2000))
  checkpoint.wrote(calls)
}

/** The written data are in the file itself, not only in its log. */
const fileBytes = (): number => statSync(join(directory, 'a.db')).size

test('what fifty calls wrote is copied in the next pause', () => {
  const checkpoint = makeCheckpoint()
  const before = fileBytes()
  write(checkpoint, 50)
  expect(fileBytes()).toBe(before)
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBeGreaterThan(before)
})

test('while calls come, and of few of them, nothing is copied', () => {
  const checkpoint = makeCheckpoint()
  const before = fileBytes()
  write(checkpoint, 49)
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBe(before)
  for (let batch = 0; batch < 10; batch++) {
    write(checkpoint, 10)
    vi.advanceTimersByTime(PAUSE_MS / 2)
  }
  expect(fileBytes()).toBe(before)
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBeGreaterThan(before)
})

test('what few calls wrote is copied once nothing is written for long, so that a file from which much was removed shrinks', () => {
  const checkpoint = makeCheckpoint()
  write(checkpoint, 50)
  vi.advanceTimersByTime(PAUSE_MS)
  const before = fileBytes()
  database.exec('delete from texts')
  database.exec('vacuum')
  checkpoint.wrote(2)
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBe(before)
  vi.advanceTimersByTime(LONG_PAUSE_MS)
  expect(fileBytes()).toBeLessThan(before)
})

test('a database whose files are gone, or that is closed, is left alone', () => {
  const checkpoint = makeCheckpoint()
  const before = fileBytes()
  isThere = false
  write(checkpoint, 50)
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBe(before)
  isThere = true
  write(checkpoint, 50)
  checkpoint.stop()
  vi.advanceTimersByTime(PAUSE_MS)
  expect(fileBytes()).toBe(before)
})
