import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { writeOperations } from '../../src/threads/write-operations.js'
import type { SqliteTransaction } from '../../src/store/sqlite/maintenance/sqlite-context.js'
import { takingTestOperations } from './store-operations.js'
import type { SqliteServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'

/** A store in a folder of its own, on the calling thread. */
export interface TestStore extends SqliteServiceStore {
  readonly dataDir: string
}

/** Gives a function that opens stores; each is closed and removed after the test that opened it. */
export function useServiceStore(): (dataDir?: string) => Promise<TestStore> {
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
    const [reads, writes] = [
      takingTestOperations(readOperations),
      takingTestOperations<SqliteTransaction>(writeOperations),
    ]
    const store = await openServiceStore({ dataDir, operations: { reads: reads.find, writes: writes.find } })
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= store.close())
    opened.push(close)
    return {
      ...store,
      reader: reads.taking(store.reader),
      writer: writes.taking(store.writer),
      dataDir,
      close,
    }
  }
}
