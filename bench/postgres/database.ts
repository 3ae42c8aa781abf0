import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import { openPostgresStore } from '../../src/store/postgres/threads/open-postgres-store.js'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import type { SqliteTransaction } from '../../src/store/sqlite/maintenance/sqlite-context.js'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { writeOperations } from '../../src/threads/write-operations.js'
import { createDatabase, startPostgres } from '../../test/support/postgres/postgres-server.js'
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js'
import { takingTestOperations } from '../../test/support/store-operations.js'

/** A PostgreSQL on this machine that keeps what it commits, as one in production does. */
export function startDurablePostgres(): Promise<PostgresServer> {
  return startPostgres({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
  })
}

let databases = 0

/** An empty database on it. */
export function newDatabase({ settings }: PostgresServer): Promise<PostgresSettings> {
  databases += 1
  return createDatabase(settings, `bench_${databases}`)
}

/** The store of one of several services, whose operations run on the calling thread. */
export async function openReplica(settings: PostgresSettings): Promise<ServiceStore> {
  const [reads, writes] = [takingTestOperations(readOperations), takingTestOperations(writeOperations)]
  const operations = { reads: reads.find, writes: writes.find }
  const store = await openPostgresStore({ settings, connections: 4, operations })
  return { ...store, reader: reads.taking(store.reader), writer: writes.taking(store.writer) }
}

/** Runs with a store over SQLite in a directory of its own, on the calling thread too. */
export async function withSqlite<T>(act: (store: ServiceStore) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'tidegate-bench-sqlite-'))
  const writes = takingTestOperations<SqliteTransaction>(writeOperations)
  try {
    const operations = { reads: readOperations, writes: writes.find }
    const store = await openServiceStore({ dataDir, operations })
    try {
      return await act({ ...store, writer: writes.taking(store.writer) })
    } finally {
      await store.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
