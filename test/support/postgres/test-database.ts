import { hash } from 'node:crypto'
import { inject } from 'vitest'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { openPostgresStore } from '../../../src/store/postgres/threads/open-postgres-store.js'
import type { OpenPostgresStoreOptions } from '../../../src/store/postgres/threads/open-postgres-store.js'
import { readOperations } from '../../../src/threads/read-operations.js'
import { writeOperations } from '../../../src/threads/write-operations.js'
import { takingTestOperations } from '../store-operations.js'
import { createDatabase, query } from './postgres-server.js'

/**
 * Opens the database of a directory on the calling thread: a copy of the template, or the one
 * opened before, with settings changed as the test requires.
 */
export async function openTestDatabase(
  dataDir: string,
  { settings, ...more }: ChangedOpening = {},
): Promise<ServiceStore> {
  const [reads, writes] = [takingTestOperations(readOperations), takingTestOperations(writeOperations)]
  const store = await openPostgresStore({
    settings: { ...(await databaseOf(dataDir)), ...settings },
    connections: 2,
    ...more,
    operations: { reads: reads.find, writes: writes.find },
  })
  return { ...store, reader: reads.taking(store.reader), writer: writes.taking(store.writer) }
}

/** Settings that a test changes. */
export interface ChangedOpening extends Pick<OpenPostgresStoreOptions, 'clock'> {
  readonly settings?: Partial<PostgresSettings>
}

/** The database of a directory, created if necessary. */
export async function databaseOf(dataDir: string): Promise<PostgresSettings> {
  const server = inject('postgres')
  if (server === undefined) throw new Error('PostgreSQL is not installed')
  const name = `test_${hash('sha256', dataDir).slice(0, 16)}`
  const known = await query(server, 'select 1 from pg_database where datname = $1', [name])
  return known.length > 0
    ? { ...server, database: name }
    : await createDatabase(server, name, 'tidegate_template')
}
