import { AppError, hasErrorCode, toAppError } from '../../errors/app-error.js'
import { loadData } from '../data/load-data.js'
import { loadSnapshot } from './load-snapshot.js'
import type { LoadOptions, PolicyLocations } from './load-snapshot.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { exceededLimit } from '../opa/run-opa.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { RevisionSources } from '../revisions/kept-revisions.js'
import type { PolicySources } from '../compile/collect-sources.js'
import { locationNames } from './location-names.js'
import { rememberData } from './remember-data.js'
import { withPublicNames } from '../snapshot/public-names.js'
import { refuseTooMuch } from '../writing/written-policies.js'
import type { WrittenPolicies } from '../writing/written-policies.js'

/**
 * Delay of the first retry, in milliseconds, after a failure that the policies did not cause.
 * Doubles each time.
 */
const FIRST_RETRY_MS = 2000
const LAST_RETRY_MS = 60_000

/** Each waiting write compiles. */
const MAX_WAITING_WRITES = 64

/** The `nice` increment of the compiler while policies serve. */
const NICENESS = 5

/** A failed reload. The previous snapshot keeps serving. */
export interface LoadFailure {
  readonly at: Date
  readonly error: AppError
}

/** Called after every load except the first, for the log and the metrics. */
export interface LoadObserver {
  readonly loaded: (snapshot: Snapshot, durationMs: number) => void
  readonly failed: (failure: LoadFailure) => void
}

/** A change of the policies by a client. */
export interface PolicyChange {
  /** Returns what is written with the change; the given value if nothing changes. May throw. */
  readonly apply: (current: Snapshot, written: WrittenPolicies) => WrittenPolicies
  /** Called with the compiled policies before they serve. If it rejects, nothing changes. */
  readonly record: (next: Snapshot, before: Snapshot) => Promise<void>
}

/** Other policies to load. */
export interface PolicyMove {
  readonly locations: PolicyLocations
  /** Options of this load and later ones. */
  readonly options?: Pick<LoadOptions, 'verification' | 'analysis'>
  /** Called before the loaded policies serve. If it rejects, nothing changes. */
  readonly record?: (next: Snapshot) => Promise<void>
}

/** The stored sources of a revision that serves in place of the locations. */
export interface PinnedSources {
  readonly revision: string
  readonly rego: PolicySources['rego']
  readonly data: PolicySources['data']
}

/** The served policies: one snapshot at a time, replaced as a whole by a reload. */
export class Policies {
  #locations: PolicyLocations
  #options: LoadOptions
  #pinned: PinnedSources | undefined
  readonly #replaced = new Set<() => void>()
  readonly #observer: LoadObserver
  #current: Snapshot
  #activatedAt = new Date()
  #failure: LoadFailure | undefined
  /** In the time of `performance.now`. */
  #loadingSince: number | undefined
  #loading: Promise<void> = Promise.resolve()
  /** The load that starts after the current one. */
  #waiting: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #retries = 0
  #waitingWrites = 0
  #written: WrittenPolicies | undefined
  #activating: (snapshot: Snapshot) => Promise<void> = () => Promise.resolve()

  private constructor(
    locations: PolicyLocations,
    options: LoadOptions,
    observer: LoadObserver,
    current: Snapshot,
    pinned: PinnedSources | undefined,
  ) {
    this.#pinned = pinned
    this.#locations = locations
    this.#options = options
    this.#observer = observer
    this.#current = current
    this.#written = options.written
  }

  /**
   * Loads for the first time: the pinned sources, if any, or the locations. Raises as
   * `loadSnapshot`, because a service without policies must not start.
   */
  static async open(
    locations: PolicyLocations,
    options: LoadOptions,
    observer: LoadObserver,
    pinned?: PinnedSources,
  ): Promise<Policies> {
    const load = options.loadData ?? ((...what) => Promise.resolve(loadData(...what)))
    const remembering = { ...options, loadData: rememberData(load) }
    const snapshot = await loadSnapshot(pinnedLocations(pinned) ?? locations, remembering)
    const findOpa = async (): Promise<OpaProgram> => ({ ...(await options.findOpa()), niceness: NICENESS })
    return new Policies(locations, { ...remembering, findOpa }, observer, snapshot, pinned)
  }

  get current(): Snapshot {
    return this.#current
  }

  /** The locations of the current snapshot. */
  get locations(): PolicyLocations {
    return this.#locations
  }

  /** The revision that serves until `unpin`; undefined if the locations serve. */
  get pinned(): string | undefined {
    return this.#pinned?.revision
  }

  get activatedAt(): Date {
    return this.#activatedAt
  }

  /** Returns how long the current load has run, in milliseconds; 0 if there is none. */
  get loadingMs(): number {
    return this.#loadingSince === undefined ? 0 : performance.now() - this.#loadingSince
  }

  /** The last reload's failure, until one succeeds. */
  get failure(): LoadFailure | undefined {
    return this.#failure
  }

  /**
   * Sets a function that activates each new snapshot in other processes. The snapshot serves here
   * after that function resolves; if it rejects, the previous one stays.
   */
  beforeActivation(activating: (snapshot: Snapshot) => Promise<void>): void {
    this.#activating = activating
  }

  /** Calls a listener after each replacement of the snapshot, until the result is called. */
  whenReplaced(listener: () => void): () => void {
    this.#replaced.add(listener)
    return () => this.#replaced.delete(listener)
  }

  /**
   * Loads again after the current load and swaps the snapshot. If the load fails, the previous
   * snapshot stays. If the policies are not the cause (a killed compiler, a full disk), it retries
   * later. Requests during a waiting load share that load, so two loads cover any number of
   * changes. Does nothing while a revision is pinned. Never rejects.
   */
  reload(): Promise<void> {
    if (this.#pinned !== undefined) return Promise.resolve()
    this.#waiting ??= this.#afterCurrent(async () => {
      this.#waiting = undefined
      clearTimeout(this.#retry)
      try {
        await this.#load(this.#locations, this.#written)
      } catch (raw) {
        this.#fail(raw)
        this.#retryLater(toAppError(raw))
      }
    })
    return this.#waiting
  }

  /**
   * Loads the policies of other locations after the current load. If that succeeds, they serve, and
   * later reloads use these locations. Otherwise it rejects as `loadSnapshot`, and nothing changes.
   */
  move({ locations, options, record }: PolicyMove): Promise<void> {
    return this.#afterCurrent(async () => {
      this.#refuseIfPinned()
      const before = this.#options
      this.#options = { ...before, ...options }
      try {
        await this.#load(locations, this.#written, record)
      } catch (raw) {
        this.#options = before
        throw raw
      }
    })
  }

  /**
   * Serves the stored sources of a revision until `unpin`, in place of the locations. `record` is
   * called before they serve. Rejects as `loadSnapshot`, with public names of files, and nothing
   * changes then.
   */
  pin(sources: PinnedSources, record: NonNullable<PolicyMove['record']>): Promise<void> {
    return this.#afterCurrent(() => this.#switchTo(sources, record))
  }

  /** Serves the locations again. Rejects as `pin`, and nothing changes then. */
  unpin(record: NonNullable<PolicyMove['record']>): Promise<void> {
    return this.#afterCurrent(() => this.#switchTo(undefined, record))
  }

  async #switchTo(pinned: PinnedSources | undefined, record: PolicyMove['record']): Promise<void> {
    try {
      await this.#load(this.#locations, this.#written, record, { pinned })
    } catch (raw) {
      const from = pinnedLocations(pinned) ?? this.#locations
      throw withPublicNames(toAppError(raw), locationNames(from))
    }
  }

  #refuseIfPinned(): void {
    if (this.#pinned === undefined) return
    throw new AppError(
      'conflict',
      `the policies are pinned to revision ${this.#pinned.revision}: unpin them first (tidegate policies unpin)`,
      { code: 'policies_pinned' },
    )
  }

  /**
   * Applies a client's change after all loads before it, by a load of its own. Returns false if it
   * changes nothing. Rejects with the errors of the change and of `loadSnapshot`, with public names
   * of files, and with `unavailable` if too many changes wait. Nothing changes then.
   */
  async write(change: PolicyChange): Promise<boolean> {
    if (this.#waitingWrites >= MAX_WAITING_WRITES)
      throw new AppError('unavailable', 'too many changes of policies wait: send the request again')
    this.#waitingWrites += 1
    try {
      return await this.#afterCurrent(() => this.#write(change))
    } finally {
      this.#waitingWrites -= 1
    }
  }

  async #write({ apply, record }: PolicyChange): Promise<boolean> {
    const before = this.#current
    this.#refuseIfPinned()
    if (this.#written === undefined) throw new AppError('internal', 'the policies are not writable')
    const written = apply(before, this.#written)
    if (written === this.#written) return false
    refuseTooMuch(written)
    try {
      await this.#load(this.#locations, written, (next) => record(next, before))
      return true
    } catch (raw) {
      throw withPublicNames(toAppError(raw), locationNames(this.locations))
    }
  }

  async #afterCurrent<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#loading.then(work)
    this.#loading = done.then(
      () => undefined,
      () => undefined,
    )
    return await done
  }

  async #load(
    locations: PolicyLocations,
    written: WrittenPolicies | undefined,
    record?: (snapshot: Snapshot) => Promise<void>,
    { pinned } = { pinned: this.#pinned },
  ): Promise<void> {
    const startedAt = performance.now()
    this.#loadingSince = startedAt
    try {
      const from = pinnedLocations(pinned) ?? locations
      let sources: RevisionSources | undefined
      const keepSources = (read: RevisionSources): void => void (sources = read)
      const snapshot = await loadSnapshot(from, { ...this.#options, written, keepSources })
      await record?.(snapshot)
      await this.#activating(snapshot)
      this.#locations = locations
      this.#pinned = pinned
      this.#current = snapshot
      this.#written = written
      this.#activatedAt = new Date()
      this.#failure = undefined
      this.#retries = 0
      clearTimeout(this.#retry)
      if (sources !== undefined) this.#options.keepSources?.(sources)
      for (const listener of [...this.#replaced]) listener()
      this.#observer.loaded(snapshot, performance.now() - startedAt)
    } finally {
      this.#loadingSince = undefined
    }
  }

  #retryLater(error: AppError): void {
    if (isOfPolicies(error)) return
    // A compilation that takes too long fails again, unless the machine was busy.
    const pauseMs =
      exceededLimit(error) !== undefined
        ? LAST_RETRY_MS
        : Math.min(FIRST_RETRY_MS * 2 ** this.#retries, LAST_RETRY_MS)
    this.#retries += 1
    this.#retry = setTimeout(() => void this.reload(), pauseMs).unref()
  }

  #fail(raw: unknown): void {
    this.#failure = { at: new Date(), error: toAppError(raw) }
    this.#observer.failed(this.#failure)
  }
}

function pinnedLocations(pinned: PinnedSources | undefined): PolicyLocations | undefined {
  if (pinned === undefined) return undefined
  const { revision, rego, data } = pinned
  const sources = { rego, data, leftOut: { rego: [], data: [] } }
  return { directories: [], bundles: [], revision, sources }
}

/** System errors that may be temporary. */
const PASSING: readonly string[] = [
  'EAGAIN',
  'EBUSY',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'ESTALE',
]

/** True if only a change of the policies can help. */
function isOfPolicies({ kind, cause }: AppError): boolean {
  return kind === 'invalid' && !PASSING.some((code) => hasErrorCode(cause, code))
}
