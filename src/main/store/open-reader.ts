import type { FindOperation } from '../../store/ports/operation.js'
import type { OpenReader, Readers } from '../../store/ports/readers.js'
import { openReader as openSqliteReader } from '../../store/sqlite/threads/open-reader.js'
import type { StoreLocation } from './store-location.js'

/**
 * Opens the durable records for reading alone, on the calling thread, whether or not a service runs. Raises AppError `unavailable`
 * for a store that is absent, damaged or not ours.
 */
export function openReader(location: StoreLocation, operations: FindOperation<Readers>): Promise<OpenReader> {
  // What it raises is a rejection.
  return Promise.resolve(location).then(({ dataDir }) => openSqliteReader(dataDir, operations))
}
