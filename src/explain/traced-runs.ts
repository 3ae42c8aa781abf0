import { AppError, toAppError } from '../errors/app-error.js'
import {
  SlowRunner,
  isMissing,
  loadTraced,
  packCalls,
  unpackCalls,
  unpackFailure,
  unpackMissing,
  type Answer,
  type LoadOptions,
  type Question,
  type RecordedCalls,
  type ReplayedCalls,
  type RevisionSources,
  type SlowRequest,
  type SlowRunnerOptions,
  type Strictness,
  type Trace,
  type TracedPolicies,
} from '../rego/index.js'

/** An evaluation to trace, with the recorded calls of the first one. */
export interface TracedRequest extends Strictness {
  readonly question: Question
  readonly input: Uint8Array | undefined
  /** The time of the decision, in epoch milliseconds. */
  readonly nowMs: number
  readonly calls: ReplayedCalls
}

/** What an evaluation with markers gave. Without an answer there is an error. */
export interface TracedResult {
  readonly answer: Answer
  readonly error: AppError | undefined
  readonly trace: Trace
}

export interface TracedRunsOptions {
  readonly load: LoadOptions
  readonly thread: Pick<SlowRunnerOptions, 'start' | 'timesOf'>
}

/** Explanations that may wait. Each takes a second or two. */
const MAX_WAITING = 8
const RETRY_AFTER_SECONDS = 5
/** Compiled policies that are kept for the next explanation. */
const MAX_KEPT = 4
/** The markers of an evaluation take time, too. */
const DURATION_FACTOR = 4
export const EMPTY_TRACE: Trace = { bodies: new Map(), isCut: false }
const NEVER = new AbortController().signal

/** Compiles policies with markers and evaluates them, one at a time, on a thread of its own. */
export class TracedRuns {
  readonly #options: TracedRunsOptions
  /** The last used builds come last. */
  readonly #kept = new Map<string, TracedPolicies>()
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(options: TracedRunsOptions) {
    this.#options = options
  }

  /** Runs work after the work before it. Raises `unavailable` if too much waits. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new AppError('unavailable', 'too many explanations are waiting. Retry later', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    this.#waiting += 1
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#waiting -= 1
    }
  }

  /** Compiles the packages at some paths with markers, or returns the last build. */
  async load(sources: RevisionSources, paths: readonly (readonly string[])[]): Promise<TracedPolicies> {
    const { revision, rego, data } = sources
    const key = JSON.stringify([revision, paths])
    const traced = this.#kept.get(key) ?? (await loadTraced({ rego, data }, paths, this.#options.load))
    this.#kept.delete(key)
    this.#kept.set(key, traced)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    return traced
  }

  /** Evaluates on a thread that ends with the evaluation. Raises only unexpected errors. */
  async run({ snapshot }: TracedPolicies, request: TracedRequest): Promise<TracedResult> {
    const { limits } = this.#options.load
    const runner = new SlowRunner({
      ...this.#options.thread,
      limits: { ...limits, maxDurationMs: limits.maxDurationMs * DURATION_FACTOR },
    })
    const { nowMs, calls } = request
    const decision = calls.requests.begin(nowMs, NEVER)
    let recorded: RecordedCalls | undefined = calls.recorded
    let missing: AppError | undefined
    try {
      for (;;) {
        const answered = await runner.evaluate(snapshot, {
          ...toSlowRequest(request, recorded),
          // Without an answer the evaluation ends, and the trace shows where.
          allowsRequests: missing === undefined,
        })
        const { answer, failure, trace = EMPTY_TRACE } = answered
        if (!isMissing(answer)) {
          const error = missing ?? (failure && unpackFailure(failure, snapshot))
          return { answer: error === undefined ? answer : undefined, error, trace }
        }
        recorded = unpackCalls(answered.recorded)
        await decision.answer(unpackMissing(answer.missing), recorded).catch((raw: unknown) => {
          missing = toAppError(raw)
        })
      }
    } catch (raw) {
      const error = toAppError(raw)
      if (error.kind === 'internal') throw error
      return { answer: undefined, error, trace: EMPTY_TRACE }
    } finally {
      decision.end()
      runner.kill(() => new AppError('unavailable', 'the explanation has ended'))
    }
  }
}

function toSlowRequest(
  { question, input, nowMs, strictBuiltinErrors, isVerdict }: TracedRequest,
  recorded: RecordedCalls | undefined,
): SlowRequest {
  return {
    ...{ question, nowMs, strictBuiltinErrors, isVerdict },
    // The thread receives the buffer itself.
    input: input && new Uint8Array(input),
    recorded: packCalls(recorded),
    wantsTrace: true,
  }
}
