import { AppError } from '../../errors/app-error.js'
import type { ThreadTimes } from '../../lib/threads/thread-cpu-time.js'
import { evaluationError } from '../evaluation/evaluation-error.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationAbort } from '../wasm/module/evaluation-abort.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import type { Answered, FromSlowThread, SlowRequest, SlowThread, StartSlowThread } from './messages.js'
import { packSnapshot } from './packed-snapshot.js'
import { unpackFailure } from './slow-failure.js'

/** Grace time in milliseconds after the limit, for an evaluation inside a library call. */
const GRACE_MS = 150
/** Largest share of the limit without CPU time, for example during garbage collection. */
const PAUSED_SHARE = 0.25
/** Wall-clock limit as a multiple of the limit. Waiting for a busy core does not count. */
const WALL_FACTOR = 4
const MIN_WATCH_MS = 20
/** Longest time for a thread to start and set up the policies, in milliseconds. */
const LOAD_MS = 60_000

export interface SlowRunnerOptions {
  readonly start: StartSlowThread
  readonly limits: EvaluationLimits
  /**
   * Returns the CPU time of a thread by its number in the system; undefined if the system does not
   * report it.
   */
  readonly timesOf: (systemId: number) => ThreadTimes | undefined
}

interface Task {
  readonly snapshot: Snapshot
  readonly done: (answered: Answered) => void
  readonly failed: (error: AppError) => void
}

/** A thread with its current question. Terminates the thread if the question takes too long. */
export class SlowRunner {
  readonly #options: SlowRunnerOptions
  readonly #thread: SlowThread
  /** Only the latest snapshot is kept. */
  #loaded: Snapshot | undefined
  #task: Task | undefined
  #watch: NodeJS.Timeout | undefined
  #isDead = false

  constructor(options: SlowRunnerOptions) {
    this.#options = options
    this.#thread = options.start({
      heard: (message) => this.#heard(message),
      ended: ({ isOutOfMemory, cause }) => {
        this.#isDead = true
        if (isOutOfMemory) this.#end(({ failed, snapshot }) => failed(overBudget('out of memory', snapshot)))
        else {
          const message = 'the thread that evaluated it ended; the log of the service says why'
          this.#end(({ failed }) => failed(new AppError('internal', message, { cause })))
        }
      },
    })
  }

  /** True if the thread has ended or was terminated. */
  get isDead(): boolean {
    return this.#isDead
  }

  /** Sets up the policies in advance, unless they are. */
  prepare(snapshot: Snapshot): void {
    if (this.#loaded === snapshot) return
    this.#loaded = snapshot
    this.#thread.send({ type: 'load', snapshot: packSnapshot(snapshot), limits: this.#options.limits })
  }

  /**
   * Evaluates a question; must not be called again before it ends. Raises as the question's use
   * case.
   */
  evaluate(snapshot: Snapshot, request: SlowRequest): Promise<Answered> {
    return new Promise<Answered>((done, failed) => {
      this.#task = { snapshot, done, failed }
      this.prepare(snapshot)
      this.#thread.send({ type: 'evaluate', request })
      this.#watch = setTimeout(() => {
        const error = new AppError('unavailable', 'the policies were not ready in time. Retry later')
        this.kill(() => error)
      }, LOAD_MS)
    })
  }

  /** Terminates the thread and rejects its question with an error. */
  kill(because: (snapshot: Snapshot) => AppError): void {
    this.#isDead = true
    this.#thread.kill()
    this.#end(({ failed, snapshot }) => failed(because(snapshot)))
  }

  #heard(message: FromSlowThread): void {
    if (message.type === 'begun') this.#watchOver(message.systemId)
    else if (message.type === 'answered') this.#end(({ done }) => done(message))
    else this.#end(({ failed, snapshot }) => failed(unpackFailure(message.failure, snapshot)))
  }

  /**
   * Terminates the thread when it has used more than its CPU time, or would have without waiting.
   */
  #watchOver(systemId: number | undefined): void {
    const { limits, timesOf } = this.#options
    const times = (): ThreadTimes | undefined => (systemId === undefined ? undefined : timesOf(systemId))
    const startedAtMs = performance.now()
    const before = times()
    const check = (): void => {
      const wallMs = performance.now() - startedAtMs
      const leftMs = msLeft(limits.maxDurationMs, wallMs, before, times())
      if (leftMs > 0) this.#watch = setTimeout(check, Math.max(MIN_WATCH_MS, leftMs))
      else this.kill((snapshot) => overBudget(`longer than ${limits.maxDurationMs} ms`, snapshot))
    }
    clearTimeout(this.#watch)
    this.#watch = setTimeout(check, limits.maxDurationMs + GRACE_MS)
  }

  #end(settle: (task: Task) => void): void {
    clearTimeout(this.#watch)
    const task = this.#task
    this.#task = undefined
    if (task !== undefined) settle(task)
  }
}

/**
 * Returns the remaining time of an evaluation that started `wallMs` ago, from the CPU time of its
 * thread.
 */
function msLeft(
  durationMs: number,
  wallMs: number,
  before: ThreadTimes | undefined,
  now: ThreadTimes | undefined,
): number {
  const limitMs = durationMs + GRACE_MS
  if (before === undefined || now === undefined) return limitMs - wallMs
  const waitedMs = now.waitedMs - before.waitedMs
  return Math.min(
    limitMs - (now.onCoreMs - before.onCoreMs),
    limitMs + durationMs * PAUSED_SHARE - (wallMs - waitedMs),
    limitMs * WALL_FACTOR - wallMs,
  )
}

function overBudget(reason: string, snapshot: Snapshot): AppError {
  return evaluationError(new EvaluationAbort(reason, { isOverBudget: true }), snapshot)
}
