import { AppError, toAppError } from '../errors/app-error.js'
import { backOffMs } from '../lib/outbound/back-off.js'
import type { BundleFolder, KeptBundle, StoredBundle } from './bundle-folder.js'
import type { FetchBundle, FetchedBundle } from './fetching/fetch-bundle.js'

/** Delay after the first failure, in milliseconds; it doubles up to the longest delay. */
const FIRST_RETRY_MS = 500
/** Shortest time between two long polls, in milliseconds, for servers that never wait. */
const MIN_LONG_POLL_MS = 1000
const FIRST_BUNDLE_MAX_RETRY_MS = 5000

/** When a source is polled and when it counts as stale. Times are in milliseconds. */
export interface SourceSettings {
  readonly name: string
  /** Where the bundle is, without credentials. */
  readonly place: string
  readonly minDelayMs: number
  readonly maxDelayMs: number
  /** How long a server may hold a request; 0 turns long polling off. */
  readonly longPollMs: number
  readonly staleAfterMs: number
  readonly staleIsNotReady: boolean
}

/** A downloaded bundle that does not serve yet. */
export interface Candidate extends StoredBundle {
  readonly version: string | undefined
  /** As in `FetchedBundle`. */
  readonly signer: string | undefined
}

export interface SourceParts {
  readonly fetch: FetchBundle
  readonly folder: BundleFolder
  /** True for a bundle that answers a share of requests. */
  readonly isStaged?: (digest: string) => boolean
  /** Tries to put the candidates of all sources into service. Never rejects. */
  readonly activate: () => Promise<void>
  /** Called at the first failure and whenever the reason changes, not for repeated failures. */
  readonly failed: (name: string, error: AppError) => void
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly random: () => number
  /** Resolves after a time in milliseconds, or when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** What a source did last. Times are in epoch milliseconds. */
export interface SourceState {
  readonly requestedMs: number | undefined
  /** The last request with a bundle or the answer that it is unchanged. */
  readonly reachedMs: number | undefined
  readonly downloadedMs: number | undefined
  readonly downloads: number
  readonly failures: number
  /** Why the last request failed. */
  readonly fetchError: AppError | undefined
  /** Why the downloaded bundle does not serve. */
  readonly activationError: AppError | undefined
}

const NO_STATE: SourceState = {
  requestedMs: undefined,
  reachedMs: undefined,
  downloadedMs: undefined,
  downloads: 0,
  failures: 0,
  fetchError: undefined,
  activationError: undefined,
}

/** A server that is polled for a bundle. */
export class PolicySource {
  readonly settings: SourceSettings
  readonly #parts: SourceParts
  readonly #startedMs: number
  readonly #stopping = new AbortController()
  #state: SourceState = NO_STATE
  #candidate: Candidate | undefined
  #isLongPoll = true
  /** When the bundle that serves was last known to be the newest. */
  #currentMs: number | undefined
  #pause = new AbortController()
  /** The refresh that was requested last and has not begun. */
  #next: Refresh | undefined
  #isRefreshing = false
  #running: Promise<void> = Promise.resolve()

  constructor(settings: SourceSettings, parts: SourceParts) {
    this.settings = settings
    this.#parts = parts
    this.#startedMs = parts.now()
  }

  get name(): string {
    return this.settings.name
  }

  get state(): SourceState {
    return this.#state
  }

  /** The bundle that serves. */
  get serving(): KeptBundle | undefined {
    return this.#parts.folder.kept[0]
  }

  /** The bundle that serves, and those that served before it, the newest first. */
  get history(): readonly KeptBundle[] {
    return this.#parts.folder.kept
  }

  get candidate(): Candidate | undefined {
    return this.#candidate
  }

  /** The file of the bundle that serves. */
  get servingFile(): string | undefined {
    return this.serving && this.#parts.folder.fileOf(this.serving.digest)
  }

  /** True if no current bundle has served for the configured time. */
  get isStale(): boolean {
    return this.#parts.now() - (this.#currentMs ?? this.#startedMs) > this.settings.staleAfterMs
  }

  /** Reads the bundles that an earlier process kept. */
  async restore(): Promise<void> {
    await this.#parts.folder.read()
  }

  /**
   * Downloads a bundle before polling begins, and tries again for some time, in milliseconds. The
   * bundle that serves may be the newest. Raises `unavailable` with the last reason.
   */
  async fetchFirst(forMs: number): Promise<void> {
    const { signal } = this.#stopping
    const endMs = this.#parts.now() + forMs
    for (let attempt = 1; ; attempt++) {
      const isReached = await this.#fetch(0, signal, undefined)
      if (this.#candidate !== undefined || (isReached === true && this.serving !== undefined)) return
      const pauseMs = Math.max(
        FIRST_RETRY_MS,
        backOffMs(attempt, { ...this.#backOff, maxMs: FIRST_BUNDLE_MAX_RETRY_MS }),
      )
      if (signal.aborted || this.#parts.now() + pauseMs > endMs) throw this.#notFetched()
      await this.#parts.wait(pauseMs, signal)
    }
  }

  /** Polls until `stop`. */
  start(): void {
    this.#running = this.#run()
  }

  /** Ends the polling and waits for a running request or activation. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#pause.abort()
    await this.#running
    this.#next?.end()
  }

  /** Polls now. Resolves when the answer was handled, and a new bundle loaded or refused. */
  async refresh(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const next = (this.#next ??= makeEnding())
    // A running refresh may have been answered already, so it is completed, and another follows.
    if (!this.#isRefreshing) this.#pause.abort()
    await next.done
  }

  /** Notes that the candidate serves now. Raises if that cannot be written to disk. */
  async accept(candidate: Candidate, revision: string): Promise<void> {
    const activatedMs = this.#parts.now()
    const { digest, version } = candidate
    if (this.#candidate === candidate) this.#candidate = undefined
    this.#state = { ...this.#state, activationError: undefined }
    this.#currentMs = activatedMs
    await this.#parts.folder.keep({
      digest,
      revision,
      activatedMs,
      ...(version !== undefined && { version }),
    })
  }

  /** Notes why the candidate does not serve. It is tried again after the next request. */
  reject(error: AppError): void {
    this.#state = { ...this.#state, activationError: error }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    let failures = 0
    while (!signal.aborted) {
      const refresh = this.#takeNext()
      this.#isRefreshing = refresh !== undefined
      this.#pause = new AbortController()
      const startedAt = performance.now()
      const isReached = await this.#poll(refresh === undefined ? this.#waitMs() : 0)
      this.#isRefreshing = false
      refresh?.end()
      failures = isReached === false ? failures + 1 : 0
      if (this.#next !== undefined) continue
      const pauseMs = this.#delayMs(failures) - (this.#waitMs() > 0 ? performance.now() - startedAt : 0)
      if (pauseMs > 0) await this.#parts.wait(pauseMs, this.#pause.signal)
    }
  }

  #takeNext(): Refresh | undefined {
    const next = this.#next
    this.#next = undefined
    return next
  }

  #waitMs(): number {
    return this.#isLongPoll ? this.settings.longPollMs : 0
  }

  #delayMs(failures: number): number {
    const { minDelayMs, maxDelayMs } = this.settings
    if (failures > 0) return Math.max(FIRST_RETRY_MS, backOffMs(failures, this.#backOff))
    if (this.#waitMs() > 0) return MIN_LONG_POLL_MS
    return minDelayMs + this.#parts.random() * (maxDelayMs - minDelayMs)
  }

  get #backOff(): Parameters<typeof backOffMs>[1] {
    return { baseMs: FIRST_RETRY_MS * 2, maxMs: this.settings.maxDelayMs, random: this.#parts.random }
  }

  /** Returns whether the server was reached; undefined if a refresh ended the request. */
  async #poll(waitMs: number): Promise<boolean | undefined> {
    const known = this.#candidate === undefined ? this.serving?.version : this.#candidate.version
    const isReached = await this.#fetch(waitMs, this.#pause.signal, known)
    if (isReached === true && this.#candidate !== undefined) await this.#parts.activate()
    else if (isReached === true) this.#currentMs = this.#parts.now()
    return isReached
  }

  async #fetch(waitMs: number, signal: AbortSignal, known: string | undefined): Promise<boolean | undefined> {
    const { now, fetch, failed } = this.#parts
    const before = this.#state.fetchError
    this.#state = { ...this.#state, requestedMs: now() }
    try {
      const fetched = await fetch({ known, waitMs, signal })
      this.#isLongPoll = fetched.isLongPoll
      await this.#take(fetched)
      this.#state = { ...this.#state, reachedMs: now(), fetchError: undefined }
      return true
    } catch (raw) {
      if (signal.aborted) return undefined
      const error = toAppError(raw)
      this.#state = { ...this.#state, failures: this.#state.failures + 1, fetchError: error }
      if (before?.message !== error.message) failed(this.name, error)
      return false
    }
  }

  async #take(fetched: FetchedBundle): Promise<void> {
    if (!fetched.isChanged) return
    const { folder, now, isStaged } = this.#parts
    const stored = await folder.store(fetched.bytes)
    const { downloads } = this.#state
    this.#state = { ...this.#state, downloads: downloads + 1, downloadedMs: now() }
    const [before, serving] = [this.#candidate, this.serving]
    // Servers without versions send the same bundle each time.
    const isServing = stored.digest === serving?.digest
    this.#candidate = isServing ? undefined : { ...stored, version: fetched.version, signer: fetched.signer }
    if (isServing) {
      this.#state = { ...this.#state, activationError: undefined }
      if (fetched.version !== undefined && fetched.version !== serving.version)
        await folder.keep({ ...serving, version: fetched.version })
    }
    if (before !== undefined && before.digest !== stored.digest && isStaged?.(before.digest) !== true)
      await folder.discard(before.digest)
  }

  #notFetched(): AppError {
    const { fetchError } = this.#state
    const reason = fetchError?.message ?? 'the service was stopped'
    return new AppError('unavailable', `the source ${this.name} gave no bundle: ${reason}`, {
      code: 'no_bundle',
      cause: fetchError,
    })
  }
}

/** A requested refresh, and the function that ends it. */
interface Refresh {
  readonly done: Promise<void>
  readonly end: () => void
}

function makeEnding(): Refresh {
  let end = (): void => undefined
  const done = new Promise<void>((resolve) => (end = resolve))
  return { done, end }
}
