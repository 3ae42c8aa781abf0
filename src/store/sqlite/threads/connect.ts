import type { Database } from 'better-sqlite3'
import { IdleCheckpoint } from '../engine/idle-checkpoint.js'
import { requireKept } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { openDatabase, openReadOnly } from '../engine/open-database.js'
import type { OpenDatabaseOptions } from '../engine/open-database.js'
import { makeAnalysisReader } from '../../analysis/analysis-reader.js'
import { makeAnalysisRepository } from '../../analysis/analysis-repository.js'
import { makeAuditExporter } from '../audit/audit-exporter.js'
import { makeAuditKeeper } from '../audit/audit-keeper.js'
import { makeAuditReader } from '../audit/audit-reader.js'
import { makeTrailIndexes } from '../audit/trail-indexes.js'
import type { CallConnection } from '../../calls/call.js'
import { makeGateReader } from '../../gates/gate-reader.js'
import { makeGateRepository } from '../../gates/gate-repository.js'
import { makeRegistryReader } from '../../registry/registry-reader.js'
import { makeEventQueue, makeRegistryRepository } from '../../registry/registry-repository.js'
import { makeOutboxReader } from '../../outbox/outbox-reader.js'
import { makeOutboxRepository } from '../../outbox/outbox-repository.js'
import { makeOutboxLeases } from '../outbox/outbox-leases.js'
import { executeReads, executeWrites } from '../calls/execute-batch.js'
import type { CachingContext } from '../calls/execute-batch.js'
import { makeFreeSpace, makeMaintenanceFigures } from '../maintenance/sqlite-context.js'
import type { SqliteReaders, SqliteTransaction } from '../maintenance/sqlite-context.js'
import { serviceDatabaseOptions, SQLITE, queryBuilder } from '../engine/service-file.js'

/** A connection of one kind. */
export interface ServiceConnection<Context> extends CallConnection<Context> {
  readonly context: Context
  readonly close: () => void
}

/** Room for the ends of the indexes that every record writes to, and for twice as much in the write-ahead log before it is copied. */
const WRITING = { pageCacheKib: 8000, walAutocheckpointPages: 4000, temporaryInMemory: true }

/** What upkeep does in one call, the removal of fifty records above all, writes as much as so many calls of others. */
const UPKEEP_WEIGHT = 10

/**
 * The connection that writes: there is one at a time, so that the trail has one end. It writes as long as `files` are at their paths.
 * Raises AppError `unavailable`.
 */
export function connectWriting(
  path: string,
  limits: Pick<OpenDatabaseOptions, 'maxPages'> = {},
  files: readonly KeptFile[] = [],
): ServiceConnection<SqliteTransaction> {
  // A database that is gone must not be created again.
  requireKept(files)
  const database = openDatabase({ ...serviceDatabaseOptions(path), ...WRITING, ...limits })
  const context = makeTransaction(database)
  const requireFile = (): void => requireKept(files)
  const checkpoint = new IdleCheckpoint(database, requireFile)
  return {
    context,
    execute: async (calls) => {
      const outcomes = await executeWrites(database, context, calls, requireFile)
      checkpoint.wrote(calls.reduce((sum, { repeats }) => sum + (repeats === true ? UPKEEP_WEIGHT : 1), 0))
      return outcomes
    },
    close: () => {
      checkpoint.stop()
      database.close()
    },
  }
}

/** A connection that reads beside the writer; of `files` it makes sure once. Raises AppError `unavailable`. */
export function connectReading(
  path: string,
  files: readonly KeptFile[] = [],
): ServiceConnection<SqliteReaders> {
  requireKept(files)
  const database = openReadOnly(serviceDatabaseOptions(path))
  const context = makeReaders(database)
  return {
    context,
    execute: (calls) => executeReads(database, context, calls),
    close: () => database.close(),
  }
}

function makeTransaction(database: Database): SqliteTransaction & CachingContext {
  const trailIndexes = makeTrailIndexes(database)
  const audit = makeAuditKeeper(database, trailIndexes, Date.now)
  const db = queryBuilder(database)
  return {
    analysis: makeAnalysisRepository(db),
    audit,
    eventQueue: makeEventQueue(db),
    outbox: { ...makeOutboxRepository(db), ...makeOutboxLeases(database) },
    gates: makeGateRepository(db, SQLITE),
    registry: makeRegistryRepository(db),
    trailIndexes,
    freeSpace: makeFreeSpace(database),
    clearCaches: () => {
      audit.clearCaches()
      trailIndexes.clearCaches()
    },
  }
}

function makeReaders(database: Database): SqliteReaders {
  const db = queryBuilder(database)
  return {
    analysis: makeAnalysisReader(db),
    audit: makeAuditReader(database),
    auditExport: makeAuditExporter(database),
    gates: makeGateReader(db, SQLITE),
    outbox: makeOutboxReader(db),
    registry: makeRegistryReader(db, SQLITE),
    maintenance: makeMaintenanceFigures(database),
  }
}
