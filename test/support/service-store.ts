import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { writeOperations } from '../../src/threads/write-operations.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import type { SqliteTransaction } from '../../src/store/sqlite/maintenance/sqlite-context.js'
import { openTestDatabase } from './postgres/test-database.js'
import { takingTestOperations } from './store-operations.js'
import type { SqliteServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'

/** A store in a folder of its own, on the calling thread. */
export interface TestStore extends ServiceStore {
  readonly dataDir: string
}

/** Always over SQLite. */
export type TestSqliteStore = InDirectory<SqliteServiceStore>
type InDirectory<Store> = Store & { readonly dataDir: string }

/** Whether this run of the tests is about a store that several processes share. */
export const isShared = process.env['TIDEGATE_TEST_STORE'] === 'postgres'

/**
 * Gives a function that opens stores of SQLite; each is closed and removed after the test that
 * opened it.
 */
export function useSqliteStore(): (dataDir?: string) => Promise<TestSqliteStore> {
  return useStore(openSqlite)
}

/** A store in the engine of this test run: the project `postgres` uses PostgreSQL. */
export function useServiceStore(): (dataDir?: string) => Promise<TestStore> {
  return useStore<ServiceStore>(isShared ? openTestDatabase : openSqlite)
}

function useStore<Store extends ServiceStore>(
  open: (dataDir: string) => Promise<Store>,
): (dataDir?: string) => Promise<InDirectory<Store>> {
  const opened: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close()
  })
  return async (given) => {
    const dataDir = given ?? mkdtempSync(join(tmpdir(), 'tidegate-store-'))
    if (given === undefined) {
      opened.push(async () => {
        await rm(dataDir, { recursive: true, force: true })
      })
    }
    const store = await open(dataDir)
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= store.close())
    opened.push(close)
    return { ...store, dataDir, close }
  }
}

async function openSqlite(dataDir: string): Promise<SqliteServiceStore> {
  const [reads, writes] = [
    takingTestOperations(readOperations),
    takingTestOperations<SqliteTransaction>(writeOperations),
  ]
  const store = await openServiceStore({ dataDir, operations: { reads: reads.find, writes: writes.find } })
  return { ...store, reader: reads.taking(store.reader), writer: writes.taking(store.writer) }
}
