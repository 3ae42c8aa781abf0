import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { toStoreError } from './sqlite-error.js'

/** Locked by the service of a data directory. */
export const LOCK_FILE = 'tidegate.lock'

/**
 * Claims a data directory for this process and creates it if absent. Returns a function that
 * releases the claim. Raises AppError `unavailable` if another process has it. The claim is an
 * unfinished transaction, a lock of the operating system that always ends with the process. The
 * file itself stays.
 */
export function claimDataDirectory(dataDir: string): () => Promise<void> {
  const path = join(dataDir, LOCK_FILE)
  const database = attempt(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return new Database(path, { timeout: 0 })
  })
  try {
    attempt(dataDir, () => {
      chmodSync(path, 0o600)
      database.exec('begin exclusive')
    })
  } catch (error) {
    database.close()
    throw error
  }
  return () => {
    database.close()
    return Promise.resolve()
  }
}

function attempt<T>(dataDir: string, work: () => T): T {
  try {
    return work()
  } catch (raw) {
    if (raw instanceof Database.SqliteError && raw.code === 'SQLITE_BUSY') {
      throw new AppError(
        'unavailable',
        `another tidegate serves from the data directory ${dataDir}: stop it, or choose another directory with --data-dir`,
        { cause: raw },
      )
    }
    throw toStoreError(`open ${LOCK_FILE}`, raw)
  }
}
