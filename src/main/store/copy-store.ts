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

/** Secrets of an installation that its receivers and links know: they stay the same where the records go. */
const SECRET_FILES = ['callback-secret', 'report-key']

/** Keeps services from a data directory until the function that it returns is called. Raises `unavailable` while one serves from it, `not_found` without records. */
export function claimFiles(dataDir: string): () => Promise<void> {
  if (!existsSync(join(dataDir, 'tidegate.db'))) {
    throw new AppError(
      'not_found',
      `there is no tidegate.db in ${dataDir}: name the data directory of a service`,
    )
  }
  return claimDataDirectory(dataDir)
}

/** Copies the records of a data directory, and the secrets beside them, into an empty database. Raises as `copyRecords` does. */
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
 * Brings the schema of a database up to date, and makes the months of the decision log and the trail for a year, for services that may make no
 * tables; returns whether the schema was changed. Raises `unavailable`.
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
