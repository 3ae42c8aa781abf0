import { AppError, toAppError } from '../errors/app-error.js'
import type { ErrorDetail } from '../errors/app-error.js'
import type { ImpactRequest } from './impact-request.js'
import type { ImpactResult } from './impact-result.js'

/** Progress of a run. */
export interface ImpactProgress {
  readonly phase: 'compiling' | 'evaluating'
  /** Number of inputs so far, and of those answered differently. */
  readonly seen: number
  readonly flips: number
}

/** Compares two revisions. Rejects with the AppError of a candidate that does not compile. */
export type CompareRevisions = (
  request: ImpactRequest,
  progress: (progress: ImpactProgress) => void,
  givenUp: AbortSignal,
) => Promise<ImpactResult>

/** A run in responses. */
export interface ImpactRunView {
  readonly impactId: string
  readonly state: 'running' | 'done' | 'failed'
  readonly startedAt: string
  readonly endedAt?: string
  readonly progress: ImpactProgress
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly errors: readonly ErrorDetail[]
  }
  readonly result?: ImpactResult | undefined
}

/** A result may have some megabytes. */
const MAX_KEPT_RUNS = 4
const RETRY_SECONDS = 10

interface KeptRun {
  view: ImpactRunView
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export interface ImpactRunsDeps {
  readonly compare: CompareRevisions
  /** Wall-clock time in epoch milliseconds. */
  readonly now: () => number
  readonly newId: (nowMs: number) => string
  /** Called with errors that are not the request's. */
  readonly failed: (error: AppError) => void
}

/** Runs comparisons one at a time and keeps the latest results in memory. */
export class ImpactRuns {
  readonly #deps: ImpactRunsDeps
  readonly #runs = new Map<string, KeptRun>()

  constructor(deps: ImpactRunsDeps) {
    this.#deps = deps
  }

  /** Starts a run. Raises `unavailable` while another one runs. */
  start(request: ImpactRequest): ImpactRunView {
    const running = [...this.#runs.values()].find(({ view }) => view.state === 'running')
    if (running !== undefined) {
      throw new AppError(
        'unavailable',
        `Another comparison (${running.view.impactId}) is running. Retry later, or stop it with DELETE /policies/impact/${running.view.impactId}.`,
        { code: 'impact_busy', retryAfterSeconds: RETRY_SECONDS },
      )
    }
    const nowMs = this.#deps.now()
    const impactId = this.#deps.newId(nowMs)
    const stop = new AbortController()
    const view: ImpactRunView = {
      ...{ impactId, state: 'running', startedAt: new Date(nowMs).toISOString() },
      progress: { phase: 'compiling', seen: 0, flips: 0 },
    }
    const run: KeptRun = { view, stop, ended: Promise.resolve().then(() => this.#run(impactId, request)) }
    this.#runs.set(impactId, run)
    for (const [oldest] of this.#runs) if (this.#runs.size > MAX_KEPT_RUNS) this.#runs.delete(oldest)
    return view
  }

  /** Returns a run. Raises `not_found` for an unknown one. */
  get(impactId: string): ImpactRunView {
    return this.#find(impactId).view
  }

  /** Returns the runs without their results, newest first. */
  list(): readonly ImpactRunView[] {
    return [...this.#runs.values()].reverse().map(({ view }) => ({ ...view, result: undefined }))
  }

  /** Returns the result of the last comparison with a candidate. */
  resultOf(revision: string): ImpactResult | undefined {
    const all = [...this.#runs.values()].reverse()
    return all.find(({ view }) => view.result?.candidate.revision === revision)?.view.result
  }

  /** Stops and forgets a run. Raises `not_found`. */
  async remove(impactId: string): Promise<void> {
    const run = this.#find(impactId)
    run.stop.abort()
    await run.ended
    this.#runs.delete(impactId)
  }

  async close(): Promise<void> {
    const runs = [...this.#runs.values()]
    for (const { stop } of runs) stop.abort()
    await Promise.all(runs.map(({ ended }) => ended))
  }

  #find(impactId: string): KeptRun {
    const run = this.#runs.get(impactId)
    if (run !== undefined) return run
    throw new AppError(
      'not_found',
      `comparison ${impactId} not found: only the latest ${MAX_KEPT_RUNS} are kept until the service restarts`,
    )
  }

  async #run(impactId: string, request: ImpactRequest): Promise<void> {
    const run = this.#find(impactId)
    const change = (view: Partial<ImpactRunView>): void => void (run.view = { ...run.view, ...view })
    try {
      const progress = (current: ImpactProgress): void => change({ progress: current })
      const result = await this.#deps.compare(request, progress, run.stop.signal)
      change({ state: 'done', result })
    } catch (raw) {
      const error = toAppError(raw)
      const { code, message, details: errors } = error
      change({ state: 'failed', error: { code, message, errors } })
      if (error.kind === 'internal') this.#deps.failed(error)
    }
    change({ endedAt: new Date(this.#deps.now()).toISOString() })
  }
}
