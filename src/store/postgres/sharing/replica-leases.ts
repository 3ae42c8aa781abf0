import type { Leases, WorkLease } from '../../ports/leases.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'
import { RELEASED } from './release-feed.js'

/** Validity of a lease without renewal. */
const LEASE_MS = 9000
const HEARTBEAT_INTERVAL_MS = 3000
/** Age at which expired leases are deleted. */
const FORGET_AFTER = '1 day'
const UNTIL = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`

export interface ReplicaLeasesOptions {
  readonly queries: Queries
  /** Name of this process. */
  readonly owner: string
  /** This machine's clock, in epoch milliseconds. */
  readonly clock: () => number
  /** Called with the database's response to a heartbeat. Returns whether this process may work. */
  readonly heartbeat: (response: Heartbeat) => boolean
  readonly failed: (error: unknown) => void
}

/** Response of the database to a heartbeat. */
export interface Heartbeat {
  /** Lead of the database's clock over this machine's, in milliseconds. */
  readonly clockOffsetMs: number
  /** Oldest schema that may write. */
  readonly oldestWriter: number
}

interface Held {
  readonly kind: string
  readonly key: string
  readonly losing: AbortController
}

/** The leases of one process, renewed by a heartbeat every few seconds. */
export class ReplicaLeases implements Leases {
  readonly #options: ReplicaLeasesOptions
  readonly #held = new Map<string, Held>()
  readonly #taking = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #mayWork = true
  /** Fires when leases may have expired, by a monotonic clock. */
  #expiry: NodeJS.Timeout | undefined

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options
  }

  /** Sends the first heartbeat. Raises the driver's errors. */
  async start(): Promise<void> {
    const { queries } = this.#options
    await run(queries, `delete from leases where until < clock_timestamp() - interval '${FORGET_AFTER}'`)
    await this.#sendHeartbeat()
    this.#timer = setInterval(() => void this.#heartbeatOrReport(), HEARTBEAT_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Releases all leases. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    clearTimeout(this.#expiry)
    await this.#sending
    await this.#deleteLeases('')
  }

  async take(kind: string, key: string): Promise<WorkLease | undefined> {
    const name = `${kind}:${key}`
    if (!this.#mayWork || this.#held.has(name) || this.#taking.has(name)) return undefined
    this.#taking.add(name)
    try {
      if (!(await this.#insert(kind, key))) return undefined
    } finally {
      this.#taking.delete(name)
    }
    const held: Held = { kind, key, losing: new AbortController() }
    this.#held.set(name, held)
    return { lost: held.losing.signal, release: () => this.#release(name, held) }
  }

  async #insert(kind: string, key: string): Promise<boolean> {
    const taken = await first(
      this.#options.queries,
      `insert into leases as held (kind, key, owner, until) values ($1, $2, $3, ${UNTIL})
       on conflict (kind, key) do update set owner = excluded.owner, until = excluded.until
         where held.until < clock_timestamp() or held.owner = excluded.owner
       returning owner`,
      [kind, key, this.#options.owner],
    )
    return taken !== undefined
  }

  async #release(name: string, held: Held): Promise<void> {
    if (this.#held.get(name) !== held) return
    this.#held.delete(name)
    const { queries, owner, failed } = this.#options
    const text = 'delete from leases where kind = $1 and key = $2 and owner = $3'
    await run(queries, text, [held.kind, held.key, owner]).catch(failed)
  }

  #heartbeatOrReport(): Promise<void> {
    this.#sending ??= this.#sendHeartbeat()
      .catch(this.#options.failed)
      .finally(() => {
        this.#sending = undefined
      })
    return this.#sending
  }

  async #sendHeartbeat(): Promise<void> {
    const { queries, owner, clock, heartbeat } = this.#options
    const startedAt = performance.now()
    const startedMs = clock()
    const before = [...this.#held.values()]
    await run(
      queries,
      `insert into leases as held (kind, key, owner, until) values ('${REPLICA}', $1, $1, ${UNTIL})
       on conflict (kind, key) do update set until = excluded.until`,
      [owner],
    )
    // Updates only: an insert would restore a lease that was just released. A lease that is not
    // held expires.
    const kept = await all<{ kind: string; key: string }>(
      queries,
      `update leases set until = ${UNTIL}
       where owner = $1 and (kind, key) in (select * from unnest($2::text[], $3::text[])) returning kind, key`,
      [owner, before.map(({ kind }) => kind), before.map(({ key }) => key)],
    )
    const state = await first<{ now_ms: number; oldest_writer: number }>(
      queries,
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, oldest_writer from store_schema',
    )
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#loseAll(), startedAt + LEASE_MS - performance.now()).unref()
    const names = new Set(kept.map(({ kind, key }) => `${kind}:${key}`))
    for (const held of before) if (!names.has(`${held.kind}:${held.key}`)) this.#lose(held)
    const middleMs = (startedMs + clock()) / 2
    this.#mayWork = heartbeat({
      clockOffsetMs: (state?.now_ms ?? middleMs) - middleMs,
      oldestWriter: state?.oldest_writer ?? 0,
    })
    // Leases that this process cannot use must not block others.
    if (!this.#mayWork) await this.#deleteLeases(` and kind <> '${REPLICA}'`)
  }

  async #deleteLeases(which: string): Promise<void> {
    this.#loseAll()
    const { queries, owner } = this.#options
    await run(queries, `delete from leases where owner = $1${which}`, [owner])
    await run(queries, 'select pg_notify($1, $2)', [RELEASED, owner])
  }

  #loseAll(): void {
    for (const held of this.#held.values()) this.#lose(held)
  }

  #lose(held: Held): void {
    const name = `${held.kind}:${held.key}`
    if (this.#held.get(name) === held) this.#held.delete(name)
    held.losing.abort()
  }
}

/** Kind of the lease by which a replica shows that it is alive. Its key is the replica. */
export const REPLICA = 'replica'
