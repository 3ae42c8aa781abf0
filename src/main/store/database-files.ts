import { basename } from 'node:path'

import { hasErrorCode, toError } from '../../errors/app-error.js'
import { ownMember } from '../../lib/own-member.js'
import { claimDataDirectory } from '../../store/sqlite/engine/claim-data-directory.js'
import { checkRelease } from '../../store/sqlite/engine/migrate.js'
import type { Migrations } from '../../store/sqlite/engine/migrate.js'
import { decisionMigrations } from '../../store/sqlite/migrations/decisions.js'
import { serviceMigrations } from '../../store/sqlite/migrations/service.js'

/** The databases of a data directory, for what looks at them or copies them without being the service. */
export { checkDatabase, copyDatabase } from '../../store/sqlite/backup/copy-database.js'
export { reserveNumbers } from '../../store/sqlite/backup/copy-database.js'

const MIGRATIONS: Readonly<Record<string, Migrations>> = {
  'tidegate.db': serviceMigrations,
  'decisions.db': decisionMigrations,
}

/** Raises `unavailable` for a database of a data directory that a newer release wrote. */
export function refuseNewer(path: string): void {
  const migrations = ownMember(MIGRATIONS, basename(path))
  if (migrations !== undefined) checkRelease(path, migrations)
}

/** Whether a service runs on a data directory, as a claim tells that is given back at once. Raises what keeps anybody from claiming it. */
export async function isClaimed(dataDir: string): Promise<boolean> {
  try {
    await claimDataDirectory(dataDir)()
    return false
  } catch (raw) {
    if (hasErrorCode(toError(raw).cause, 'SQLITE_BUSY')) return true
    throw raw
  }
}
