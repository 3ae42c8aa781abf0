import type { FindOperation } from '../../store/ports/operation.js'
import type { OpenReader, Readers } from '../../store/ports/readers.js'
import type { StoreLocation } from './store-location.js'

/**
 * Opens the durable records for reading alone, on the calling thread, whether or not a service runs. Raises AppError `unavailable`
 * for a store that is absent, damaged or not ours.
 */
export async function openReader(
  location: StoreLocation,
  operations: FindOperation<Readers>,
): Promise<OpenReader> {
  if (location.engine === 'postgres') {
    const { openPostgresReader } = await import('../../store/postgres/threads/open-postgres-store.js')
    return openPostgresReader(location.settings, operations)
  }
  const { openReader: openSqliteReader } = await import('../../store/sqlite/threads/connect.js')
  return openSqliteReader(location.dataDir, operations)
}
