import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { toStoreError } from './sqlite-error.js'

/** Whoever serves from a data directory holds a lock on this file in it. */
export const LOCK_FILE = 'tidegate.lock'

/**
 * Makes this process the only service on a data directory, which is created when there is none; returns what releases it. Raises
 * AppError `unavailable` when another one has it. The claim is a lock of the operating system, by way of a transaction that
 * is never finished, so it ends with the process however that ends; the file itself stays and means nothing.
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
