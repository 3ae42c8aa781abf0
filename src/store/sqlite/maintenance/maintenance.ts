import type { StoreMaintenance } from '../../ports/maintenance.js'
import type { Runner } from '../../ports/operation.js'
import { releaseFreeSpace } from './maintenance-operations.js'
import type { MaintenanceFigures, SqliteTransaction } from './sqlite-context.js'
import { TrailIndexer } from './trail-indexer.js'

const RELEASING_STEP = { maxBytes: 2 * 1024 * 1024, maxMs: 3 }

/** The maintenance of `tidegate.db`: nothing is written, and no thread started, where nothing is due. */
export function makeMaintenance(
  writer: Runner<SqliteTransaction>,
  figures: MaintenanceFigures,
): StoreMaintenance {
  const indexer = new TrailIndexer({ writer, progress: () => figures.progress() })
  const releaseSpace = async (): Promise<boolean> =>
    (await figures.freeBytes()) > 0 && (await writer.run(releaseFreeSpace, RELEASING_STEP))
  return { step: (task) => (task === 'search' ? indexer.step() : releaseSpace()) }
}
