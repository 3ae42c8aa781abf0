import { join } from 'node:path'
import type { Database } from 'better-sqlite3'

import { BatchingRunner } from '../../calls/batching-runner.js'
import type { FindOperation } from '../../ports/operation.js'
import type { OpenReader, Readers } from '../../ports/readers.js'
import { requireKept } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { openDatabase, openReadOnly } from '../engine/open-database.js'
import { makeAnalysisReader } from '../../analysis/analysis-reader.js'
import { makeAnalysisRepository } from '../../analysis/analysis-repository.js'
import { makeAuditExporter } from '../../trail/audit-exporter.js'
import { makeTrailQueries } from '../../trail/trail-queries.js'
import { makeAuditKeeper, makeAuditReader } from '../audit/audit-keeper.js'
import { makeTrailIndexes } from '../audit/trail-indexes.js'
import type { CallConnection, Call, Outcome } from '../../calls/call.js'
import { makeGateReader } from '../../gates/gate-reader.js'
import { makeGateRepository } from '../../gates/gate-repository.js'
import { makeRegistryReader } from '../../registry/registry-reader.js'
import { makeEventQueue, makeRegistryRepository } from '../../registry/registry-repository.js'
import { makeExceptionReader } from '../../exceptions/exception-reader.js'
import { makeExceptionRepository } from '../../exceptions/exception-repository.js'
import {
  makeNotificationReader,
  makeNotificationRepository,
} from '../../notifications/notification-repository.js'
import { makeOutboxReader } from '../../outbox/outbox-reader.js'
import { makeOutboxRepository } from '../../outbox/outbox-repository.js'
import { makeOutboxLeases } from '../outbox/outbox-leases.js'
import { WriteConnection, rollBack } from '../calls/write-connection.js'
import type { CachingContext } from '../calls/write-connection.js'
import { makeFreeSpace, makeMaintenanceStatus } from '../maintenance/sqlite-context.js'
import type { SqliteReaders, SqliteTransaction } from '../maintenance/sqlite-context.js'
import { serviceDatabaseOptions, SQLITE, queryBuilder } from '../engine/service-file.js'
import { toFailure } from '../../../lib/threads/failure.js'
import { fromDriver } from '../engine/sqlite-error.js'

/**
 * Cache for the ends of the indexes that every record writes to, and twice as much in the
 * write-ahead log before it is copied.
 */
const WRITING = { pageCacheKib: 8000, walAutocheckpointPages: 4000, temporaryInMemory: true }

export interface WritingOptions {
  readonly operations: FindOperation<SqliteTransaction>
  /** Files that must be at their paths for a write. */
  readonly files: readonly KeptFile[]
  /** Highest number of pages of the file. */
  readonly maxPages?: number | undefined
}

/** Opens the connection that writes. Raises AppError `unavailable`. */
export function connectWriting(
  path: string,
  { operations, files, maxPages }: WritingOptions,
): CallConnection {
  // A deleted database must not be created again.
  requireKept(files)
  const limits = maxPages === undefined ? {} : { maxPages }
  const database = openDatabase({ ...serviceDatabaseOptions(path), ...WRITING, ...limits })
  return new WriteConnection(database, makeTransaction(database), operations, () => requireKept(files))
}

/** Opens a connection that reads next to the writer. Raises AppError `unavailable`. */
export function connectReading(
  path: string,
  operations: FindOperation<Readers>,
  files: readonly KeptFile[] = [],
): CallConnection {
  requireKept(files)
  const database = openReadOnly(serviceDatabaseOptions(path))
  return new ReadConnection<Readers>(database, makeReaders(database), operations)
}

/** Opens a connection for single rows, without operations. Raises AppError `unavailable`. */
export function openLookups(path: string): { readonly readers: SqliteReaders; readonly close: () => void } {
  const database = openReadOnly(serviceDatabaseOptions(path))
  return { readers: makeReaders(database), close: () => database.close() }
}

/**
 * Opens `tidegate.db` for reading, whether or not the service runs. Raises AppError `unavailable`
 * for a file that is absent, damaged or of another program.
 */
export function openReader(dataDir: string, operations: FindOperation<Readers>): OpenReader {
  const connection = connectReading(join(dataDir, 'tidegate.db'), operations)
  const reader = new BatchingRunner((calls) => connection.execute(calls), 1)
  return {
    reader,
    close: async () => {
      await reader.idle()
      await connection.close()
    },
  }
}

function makeTransaction(database: Database): SqliteTransaction & CachingContext {
  const db = queryBuilder(database)
  const trailIndexes = makeTrailIndexes(database)
  const audit = makeAuditKeeper(database, db, trailIndexes, Date.now)
  return {
    analysis: makeAnalysisRepository(db),
    audit,
    eventQueue: makeEventQueue(db),
    outbox: { ...makeOutboxRepository(db), ...makeOutboxLeases(database) },
    gates: makeGateRepository(db, SQLITE),
    exceptions: makeExceptionRepository(db),
    registry: makeRegistryRepository(db),
    notifications: makeNotificationRepository(db),
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
  const trail = makeTrailQueries(db)
  const audit = makeAuditReader(database, trail)
  return {
    analysis: makeAnalysisReader(db),
    audit,
    auditExport: makeAuditExporter({ ...trail, page: (query) => audit.page(query) }),
    gates: makeGateReader(db, SQLITE),
    exceptions: makeExceptionReader(db),
    notifications: makeNotificationReader(db),
    outbox: makeOutboxReader(db),
    registry: makeRegistryReader(db, SQLITE),
    maintenance: makeMaintenanceStatus(database),
  }
}

/** A connection that reads. Each call sees one state of the database. */
class ReadConnection<Context> implements CallConnection {
  readonly #database: Database
  readonly #context: Context
  readonly #find: FindOperation<Context>

  constructor(database: Database, context: Context, find: FindOperation<Context>) {
    this.#database = database
    this.#context = context
    this.#find = find
  }

  async execute(calls: readonly Call[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await this.#one(call))
    return outcomes
  }

  close(): Promise<void> {
    this.#database.close()
    return Promise.resolve()
  }

  async #one({ operation, args }: Call): Promise<Outcome> {
    try {
      this.#database.exec('begin')
      return { ok: true, result: await this.#find(operation).apply(this.#context, args as never) }
    } catch (raw) {
      return { ok: false, failure: toFailure(fromDriver('read tidegate.db', raw)) }
    } finally {
      rollBack(this.#database)
    }
  }
}
