import { AppError, toAppError } from '../../errors/app-error.js'
import { loadData } from '../data/load-data.js'
import { loadSnapshot } from './load-snapshot.js'
import type { PolicyLocations } from './load-snapshot.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { RevisionSources } from '../revisions/kept-revisions.js'
import type { Staged } from '../evaluation/choose-snapshot.js'
import { LoadRetries } from './load-failure.js'
import type { LoadFailure, LoadObserver } from './load-failure.js'
import { locationNames } from './location-names.js'
import { pinnedLocations, refuseIfPinned, refuseIfStaged } from './replacement.js'
import type {
  LoadedPolicies,
  PinnedSources,
  PoliciesOptions,
  PolicyChange,
  PolicyMove,
  Stage,
  StageEnd,
} from './replacement.js'
import { rememberData } from './remember-data.js'
import { withPublicNames } from '../snapshot/public-names.js'
import { refuseTooMuch } from '../writing/written-policies.js'
import type { WrittenPolicies } from '../writing/written-policies.js'

/** Each waiting write compiles. */
const MAX_WAITING_WRITES = 64

/** The `nice` increment of the compiler while policies serve. */
const NICENESS = 5

/** The served policies: one snapshot at a time, replaced as a whole by a reload. */
export class Policies {
  #locations: PolicyLocations
  #options: PoliciesOptions
  #pinned: PinnedSources | undefined
  readonly #replaced = new Set<() => void>()
  readonly #observer: LoadObserver
  #current: Snapshot
  #activatedAt = new Date()
  #failure: LoadFailure | undefined
  /** In the time of `performance.now`. */
  #loadingSince: number | undefined
  #loading: Promise<unknown> = Promise.resolve()
  /** The load that starts after the current one. */
  #waiting: Promise<void> | undefined
  readonly #retries = new LoadRetries(() => this.reload())
  #waitingWrites = 0
  #written: WrittenPolicies | undefined
  #activating: (snapshot: Snapshot) => Promise<void> = () => Promise.resolve()
  #staging: (staged: Staged | undefined) => Promise<void> = () => Promise.resolve()
  #stage: Stage | undefined
  /** The revision whose stage was ended last, and why. */
  #takenBack: { readonly revision: string; readonly reason: AppError } | undefined

  private constructor(
    locations: PolicyLocations,
    options: PoliciesOptions,
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
   * Loads for the first time: the given sources, which may be pinned, or the locations. Raises as
   * `loadSnapshot`, because a service without policies must not start.
   */
  static async open(
    locations: PolicyLocations,
    options: PoliciesOptions,
    observer: LoadObserver,
    sources?: PinnedSources,
    isPinned = true,
  ): Promise<Policies> {
    const load = options.loadData ?? ((...what) => Promise.resolve(loadData(...what)))
    const remembering = { ...options, loadData: rememberData(load) }
    const snapshot = await loadSnapshot(pinnedLocations(sources) ?? locations, remembering)
    const findOpa = async (): Promise<OpaProgram> => ({ ...(await options.findOpa()), niceness: NICENESS })
    const pinned = isPinned ? sources : undefined
    return new Policies(locations, { ...remembering, findOpa }, observer, snapshot, pinned)
  }

  get current(): Snapshot {
    return this.#current
  }

  /** The policies that answer a share of requests until they serve or are taken back. */
  get staged(): Stage | undefined {
    return this.#stage
  }

  /** True while a revision is pinned or staged to be, and changes wait. */
  get isHeld(): boolean {
    return this.#pinned !== undefined || this.#stage?.pinned !== undefined
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
   * after that function resolves; if it rejects, the previous one stays. `staging` does so with a
   * snapshot that answers a share of requests, and ends that if it is undefined.
   */
  beforeActivation(
    activating: (snapshot: Snapshot) => Promise<void>,
    staging: (staged: Staged | undefined) => Promise<void> = () => Promise.resolve(),
  ): void {
    this.#activating = activating
    this.#staging = staging
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
    if (this.isHeld) return Promise.resolve()
    this.#waiting ??= this.#afterCurrent(async () => {
      this.#waiting = undefined
      this.#retries.cancel()
      try {
        await this.#loadFiles()
      } catch (raw) {
        this.#fail(raw)
        this.#retries.after(toAppError(raw))
      }
    })
    return this.#waiting
  }

  /**
   * Loads the policies of other locations after the current load. If that succeeds, they serve, and
   * later reloads use these locations. Otherwise it rejects as `loadSnapshot`, and nothing changes.
   */
  move({ options, ...move }: PolicyMove): Promise<void> {
    return this.#afterCurrent(async () => {
      refuseIfPinned(this.#pinned ?? this.#stage?.pinned)
      const before = this.#options
      this.#options = { ...before, ...options }
      try {
        await this.#load(move)
      } catch (raw) {
        this.#options = before
        throw raw
      }
    })
  }

  /**
   * Serves the stored sources of a revision in place of the locations until they are pinned to
   * undefined. Rejects as `loadSnapshot`, with public names of files, and nothing changes then.
   */
  pin(pinned: PinnedSources | undefined, steps: Omit<PolicyMove, 'locations'>): Promise<void> {
    return this.#afterCurrent(async () => {
      try {
        await this.#load({ ...steps, locations: this.#locations }, { pinned })
      } catch (raw) {
        const from = pinnedLocations(pinned) ?? this.#locations
        throw withPublicNames(toAppError(raw), locationNames(from))
      }
    })
  }

  /** Puts the staged policies into service. Raises `conflict` if there are none, or others. */
  promote(staged: Snapshot): Promise<void> {
    return this.#afterCurrent(() => this.#serve(this.#requireStage(staged)))
  }

  /**
   * Ends the stage: the current policies answer all requests again. Raises `conflict` if there is
   * none, or another one.
   */
  takeBack(reason: AppError, staged: Snapshot): Promise<void> {
    return this.#afterCurrent(async () => {
      const { snapshot } = this.#requireStage(staged)
      await this.#staging(undefined)
      this.#takenBack = { revision: snapshot.revision, reason }
      this.#endStage(reason)
    })
  }

  #requireStage(wanted: Snapshot): Stage {
    if (this.#stage?.snapshot === wanted) return this.#stage
    throw new AppError('conflict', 'no revision is staged')
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
    refuseIfPinned(this.#pinned ?? this.#stage?.pinned)
    if (this.#written === undefined) throw new AppError('internal', 'the policies are not writable')
    const written = apply(before, this.#written)
    if (written === this.#written) return false
    refuseTooMuch(written)
    try {
      if (this.#options.stageShare?.() !== undefined) {
        // The load of the change would put changed files into service, so their stage begins first.
        if (this.#stage === undefined) await this.#loadFiles()
        refuseIfStaged(this.#stage)
      }
      await this.#load({ locations: this.#locations, record: (next) => record(next, before) }, { written })
      return true
    } catch (raw) {
      throw withPublicNames(toAppError(raw), locationNames(this.locations))
    }
  }

  async #afterCurrent<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#loading.then(work)
    this.#loading = done.catch(() => undefined)
    return await done
  }

  async #loadFiles(): Promise<void> {
    const dropped = (reason?: AppError): void => reason && this.#fail(reason)
    await this.#load({ locations: this.#locations, dropped, isStaged: true })
  }

  async #load(
    { locations, isStaged = false, ...steps }: Omit<PolicyMove, 'options'>,
    changed: Partial<Pick<LoadedPolicies, 'pinned' | 'written'>> = {},
  ): Promise<void> {
    const startedAt = performance.now()
    this.#loadingSince = startedAt
    try {
      const { pinned, written } = { pinned: this.#pinned, written: this.#written, ...changed }
      const from = pinnedLocations(pinned) ?? locations
      let sources: RevisionSources | undefined
      const keepSources = (read: RevisionSources): void => void (sources = read)
      const snapshot = await loadSnapshot(from, { ...this.#options, written, keepSources })
      const durationMs = performance.now() - startedAt
      const loaded = { snapshot, locations, pinned, written, sources, steps, durationMs }
      const [stageShare, takenBack] = [this.#options.stageShare?.(), this.#takenBack]
      if (stageShare !== undefined && pinned === undefined && snapshot.revision === takenBack?.revision)
        throw takenBack.reason
      const sharePercent = isStaged ? stageShare : undefined
      if (sharePercent === undefined || snapshot.revision === this.#current.revision)
        await this.#serve(loaded)
      else await this.#begin({ ...loaded, sharePercent, since: new Date() })
    } finally {
      this.#loadingSince = undefined
    }
  }

  async #serve(loaded: LoadedPolicies): Promise<void> {
    const { snapshot, steps, sources } = loaded
    await steps.record?.(snapshot)
    try {
      await this.#activating(snapshot)
    } catch (raw) {
      await steps.undo?.()
      throw raw
    }
    this.#locations = loaded.locations
    this.#pinned = loaded.pinned
    this.#current = snapshot
    this.#written = loaded.written
    this.#activatedAt = new Date()
    this.#failure = undefined
    this.#takenBack = undefined
    this.#retries.reset()
    if (sources !== undefined) this.#options.keepSources?.(sources)
    for (const listener of [...this.#replaced]) listener()
    this.#endStage(loaded === this.#stage ? 'promoted' : 'replaced')
    this.#observer.loaded(snapshot, loaded.durationMs)
    await steps.served?.()
  }

  /** Lets loaded policies answer a share of requests, in place of those of another stage. */
  async #begin(stage: Stage): Promise<void> {
    const [{ revision }, former] = [stage.snapshot, this.#stage]
    if (revision === former?.snapshot.revision && !stage.pinned === !former.pinned) {
      this.#stage = { ...former, locations: stage.locations, steps: stage.steps }
      return former.steps.dropped?.(undefined)
    }
    await this.#staging(stage)
    this.#endStage('replaced')
    this.#stage = stage
    this.#failure = undefined
    this.#takenBack = undefined
    if (stage.sources !== undefined) this.#options.keepSources?.({ ...stage.sources, isStaged: true })
    this.#observer.staged?.(stage)
  }

  #endStage(end: StageEnd): void {
    const stage = this.#stage
    if (stage === undefined) return
    this.#stage = undefined
    if (end !== 'promoted') stage.steps.dropped?.(end === 'replaced' ? undefined : end)
    this.#observer.stageEnded?.(stage, end)
  }

  #fail(raw: unknown): void {
    this.#failure = { at: new Date(), error: toAppError(raw) }
    this.#observer.failed(this.#failure)
  }
}
