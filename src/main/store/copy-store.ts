import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, hasErrorCode } from '../../errors/app-error.js'
import { copyRecords } from '../../store/copy/copy-records.js'
import type { Copied } from '../../store/copy/copy-records.js'
import type { PostgresSettings } from '../../store/postgres/engine/postgres-settings.js'
import { TRAIL } from '../../store/postgres/audit/trail-months.js'
import { DECISIONS } from '../../store/postgres/decisions/decision-months.js'
import { addComingMonths } from '../../store/postgres/months/monthly-table.js'
import { migrate } from '../../store/postgres/engine/migrate.js'
import { claimDataDirectory } from '../../store/sqlite/engine/claim-data-directory.js'
import { serviceSchema } from '../../store/postgres/migrations/service.js'

/**
 * Secrets that receivers and links of the installation depend on, so they are copied with the
 * records.
 */
const SECRET_FILES = ['callback-secret', 'report-key']

/**
 * Locks a data directory against services until the returned function is called. Throws
 * `unavailable` if a service runs there, `not_found` if it has no records.
 */
export function claimFiles(dataDir: string): () => Promise<void> {
  if (!existsSync(join(dataDir, 'tidegate.db'))) {
    throw new AppError('not_found', `no tidegate.db in ${dataDir}: give the data directory of a service`)
  }
  return claimDataDirectory(dataDir)
}

/**
 * Copies the records and secrets of a data directory into an empty database. Throws `conflict` for
 * a database with records, and `unavailable` for a store that cannot be read or written.
 */
export async function copyStore(
  dataDir: string,
  settings: PostgresSettings,
  progress: (table: string, rows: number) => void,
): Promise<Copied> {
  const secrets = Object.fromEntries(
    SECRET_FILES.flatMap((name) => {
      const secret = readIfThere(join(dataDir, name))
      return secret === undefined ? [] : [[name, secret]]
    }),
  )
  return await copyRecords({ dataDir, settings, secrets, progress })
}

/**
 * Updates the schema of a database and creates the monthly tables of the decision log and the trail
 * for a year, for services that may not create tables. Returns whether the schema changed. Throws
 * `unavailable`.
 */
export async function migrateStore(settings: PostgresSettings): Promise<boolean> {
  const isChanged = await migrate(settings, serviceSchema)
  await addComingMonths(settings, [DECISIONS, TRAIL], Date.now())
  return isChanged
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  }
}
