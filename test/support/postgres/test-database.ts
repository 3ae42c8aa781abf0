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
 * Opens, on the calling thread, the database that stands for a directory: a copy of the template, or the one that was opened before;
 * with some of its settings changed, where a test says so.
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

/** What a test has otherwise than others. */
export interface ChangedOpening extends Pick<OpenPostgresStoreOptions, 'clock'> {
  readonly settings?: Partial<PostgresSettings>
}

/** The database that stands for a directory; it is made when there is none. */
export async function databaseOf(dataDir: string): Promise<PostgresSettings> {
  const server = inject('postgres')
  if (server === undefined) throw new Error('PostgreSQL is not installed')
  const name = `test_${hash('sha256', dataDir).slice(0, 16)}`
  const known = await query(server, 'select 1 from pg_database where datname = $1', [name])
  return known.length > 0
    ? { ...server, database: name }
    : await createDatabase(server, name, 'tidegate_template')
}
