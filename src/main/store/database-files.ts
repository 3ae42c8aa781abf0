import { hasErrorCode, toError } from '../../errors/app-error.js'
import { claimDataDirectory } from '../../store/sqlite/engine/claim-data-directory.js'

/** The databases of a data directory, for what looks at them or copies them without being the service. */
export { checkDatabase, copyDatabase } from '../../store/sqlite/backup/copy-database.js'
export { reserveNumbers } from '../../store/sqlite/backup/reserve-numbers.js'

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
