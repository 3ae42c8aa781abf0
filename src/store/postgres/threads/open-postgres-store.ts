import { randomUUID } from 'node:crypto'

import { makeRemovalTime } from '../../../lib/clocks/removal-time.js'
import type { ThreadDeath } from '../../../lib/threads/supervised-thread.js'
import { BatchingRunner } from '../../calls/batching-runner.js'
import type { ExecuteBatch } from '../../calls/batching-runner.js'
import type { ThreadRole } from '../../calls/call.js'
import { threadExecutor } from '../../calls/executor.js'
import type { Executor, StoreOperations } from '../../calls/executor.js'
import { watchReaders } from '../../calls/watch-readers.js'
import type { Leases } from '../../ports/leases.js'
import type { FindOperation } from '../../ports/operation.js'
import type { OpenReader, Readers } from '../../ports/readers.js'
import type { ServiceStore } from '../../ports/service-store.js'
import { makeReaders } from '../calls/read-context.js'
import { openSharedDecisions } from '../decisions/shared-decisions.js'
import { migrate, requireWriter } from '../engine/migrate.js'
import { PooledQueries } from '../engine/pooled-queries.js'
import { fromDriver, toStoreError, STORE_AWAY } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import type { Queries } from '../engine/session.js'
import { ShutdownProbe } from '../engine/shutdown-probe.js'
import { first, run } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'
import { ReleaseFeed } from '../sharing/release-feed.js'
import { ReplicaLeases } from '../sharing/replica-leases.js'
import { sharedReports, sharedSessions } from '../sharing/shared-sessions.js'
import { connectReading } from '../calls/read-connection.js'
import { connectWriting } from '../calls/write-connection.js'
import type { PostgresThreadOptions } from './serve-store.js'
import { AppError } from '../../../errors/app-error.js'
import type { Heartbeat } from '../sharing/replica-leases.js'

/**
 * Clock difference above which a warning is shown. It does no harm, since all processes use the
 * database's clock.
 */
const MAX_QUIET_OFFSET_MS = 5000

export interface OpenPostgresStoreOptions {
  readonly settings: PostgresSettings
  /** Number of connections for single rows. One more is for writing, and one for long reads. */
  readonly connections: number
  /**
   * Script of a thread that finds the operations, or the operations themselves to run all of them
   * on the calling thread.
   */
  readonly operations: URL | StoreOperations
  /** Called when a thread ended by itself. */
  readonly threadDied?: (death: ThreadDeath) => void
  /**
   * Called with the problem when the database becomes unusable, and with undefined when it is
   * usable again.
   */
  readonly changed?: (problem: string | undefined) => void
  /** This machine's clock, in epoch milliseconds. */
  readonly clock?: () => number
}

const LOOKUPS = { statementMs: 5000, lockMs: 3000 }
/** Highest number of writes per transaction, since other replicas wait for it. */
const MAX_WRITES_PER_COMMIT = 200
const READ = 'read the database'
const USE = 'use the database'

/** Migrates a database and joins the processes that share it. Raises AppError `unavailable`. */
export async function openPostgresStore(options: OpenPostgresStoreOptions): Promise<ServiceStore> {
  const { settings, connections, changed = () => undefined, clock = Date.now } = options
  await migrate(settings, serviceSchema)
  const owner = randomUUID()
  const shutdown = new ShutdownProbe(settings)
  const pool = new PooledQueries(settings, LOOKUPS, connections, shutdown)
  const condition = new DatabaseCondition(changed)
  const failed = (error: unknown): void => condition.failed(error)
  const watch = { succeeded: () => condition.succeeded(), failed }
  const now = (): number => Math.round(clock() + condition.clockOffsetMs)
  const leases = new ReplicaLeases({
    queries: pool,
    owner,
    clock,
    heartbeat: (received) => condition.noteHeartbeat(received),
    failed: (raw) => failed(toStoreError(READ, raw)),
  })
  await leases.start().catch(async (raw: unknown) => {
    await pool.close()
    throw toStoreError(READ, raw)
  })
  const listeners: (() => void)[] = []
  const released = (): void => listeners.forEach((listener) => listener())
  const feed = new ReleaseFeed({ settings, owner, released })
  void feed.start()
  const writing = openExecutor('write', owner, options)
  const reading = openExecutor('read', owner, options)
  const decisions = openSharedDecisions(settings, shutdown)
  const writer = new BatchingRunner(unlessAbandoned(writing, shutdown), MAX_WRITES_PER_COMMIT, watch)
  const reader = new BatchingRunner(unlessAbandoned(reading, shutdown), 1, watch)
  return {
    writer,
    reader,
    lookups: watchReaders(makeReaders(pool), watch, (raw) => fromDriver(READ, raw)),
    // Records are searchable as soon as they are stored, and the server manages its files.
    maintenance: { step: () => Promise.resolve(false) },
    now,
    removalTime: makeRemovalTime(now),
    leases: withStoreErrors(leases),
    sharing: {
      secret: (name, make) => sharedSecret(pool, name, make),
      decisions,
      sessions: sharedSessions(pool),
      reports: sharedReports(pool),
      whenReleased: (listener) => void listeners.push(listener),
    },
    problem: () => condition.problem ?? writing.problem ?? reading.problem,
    warning: () => condition.warning,
    closing: () => void shutdown.begin(() => condition.problem !== undefined),
    close: async () => {
      await Promise.all([writer.idle(), reader.idle()])
      await Promise.all([writing.close(shutdown.abandoned), reading.close(shutdown.abandoned)])
      // If the database is away, the leases expire.
      await leases.stop().catch(() => undefined)
      await feed.stop().catch(() => undefined)
      await Promise.all([pool.close(), decisions.store.close()])
      shutdown.end()
    },
  }
}

function unlessAbandoned(executor: Executor, shutdown: ShutdownProbe): ExecuteBatch {
  return async (calls) => {
    try {
      return await shutdown.unlessAbandoned(() => executor.execute(calls))
    } catch (raw) {
      throw toStoreError(USE, raw)
    }
  }
}

/** Opens a database for reading on the calling thread, without migrating it. */
export function openPostgresReader(
  settings: PostgresSettings,
  operations: FindOperation<Readers>,
): OpenReader {
  const connection = connectReading({ ...settings, takesStandby: true }, operations)
  const reader = new BatchingRunner((calls) => connection.execute(calls), 1)
  return {
    reader,
    close: async () => {
      await reader.idle()
      await connection.close()
    },
  }
}

function openExecutor(
  role: ThreadRole,
  owner: string,
  { settings, operations, threadDied }: OpenPostgresStoreOptions,
): Executor {
  if (operations instanceof URL) {
    const options: PostgresThreadOptions = { engine: 'postgres', role, settings, owner }
    return threadExecutor({ script: operations, options, store: 'the database', died: threadDied })
  }
  return role === 'read'
    ? connectReading(settings, operations.reads)
    : connectWriting(settings, owner, operations.writes)
}

function withStoreErrors(leases: ReplicaLeases): Leases {
  return {
    take: async (kind, key) => {
      try {
        return await leases.take(kind, key)
      } catch (raw) {
        throw toStoreError(READ, raw)
      }
    },
  }
}

/** Returns the secret of a name. The first process creates it. */
async function sharedSecret(queries: Queries, name: string, make: () => string): Promise<string> {
  const text = 'select value from shared_secrets where name = $1'
  const known = await first<{ value: string }>(queries, text, [name])
  if (known !== undefined) return known.value
  await run(queries, 'insert into shared_secrets (name, value) values ($1, $2) on conflict do nothing', [
    name,
    make(),
  ])
  return (await first<{ value: string }>(queries, text, [name]))?.value ?? ''
}

/** Condition of the database, judged by the last call or heartbeat. */
class DatabaseCondition {
  readonly #changed: (problem: string | undefined) => void
  #away: string | undefined
  #newer: string | undefined
  #clockOffsetMs = 0

  constructor(changed: (problem: string | undefined) => void) {
    this.#changed = changed
  }

  /** Why nothing can be written now. */
  get problem(): string | undefined {
    return this.#away ?? this.#newer
  }

  /** Lead of the database's clock over this machine's, in milliseconds. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs
  }

  /** A problem that does not stop the store. */
  get warning(): string | undefined {
    const seconds = Math.round(this.#clockOffsetMs / 1000)
    if (Math.abs(this.#clockOffsetMs) < MAX_QUIET_OFFSET_MS) return undefined
    return `this machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the database's clock, which is used`
  }

  /** Returns whether this release may write to the database. */
  noteHeartbeat({ clockOffsetMs, oldestWriter }: Heartbeat): boolean {
    this.#clockOffsetMs = clockOffsetMs
    try {
      requireWriter(serviceSchema, { oldestWriter })
      this.#note({ away: undefined, newer: undefined })
    } catch (error) {
      this.#note({ away: undefined, newer: (error as Error).message })
    }
    return this.#newer === undefined
  }

  succeeded(): void {
    if (this.#away !== undefined) this.#note({ away: undefined, newer: this.#newer })
  }

  failed(error: unknown): void {
    if (error instanceof AppError && error.code === STORE_AWAY) {
      this.#note({ away: error.message, newer: this.#newer })
    }
  }

  #note({ away, newer }: { readonly away: string | undefined; readonly newer: string | undefined }): void {
    const wasWell = this.problem === undefined
    this.#away = away
    this.#newer = newer
    // Report once, even if the text of the problem changes.
    if (wasWell !== (this.problem === undefined)) this.#changed(this.problem)
  }
}
