import PQueue from 'p-queue'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { BoundedCache } from '../../lib/bounded-cache.js'
import { waitInQueue } from '../../lib/turns/wait-in-queue.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import type { CallResult } from '../builtins/shared/recorded-calls.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { OPA_OVERRUN, runOpa } from '../opa/run-opa.js'
import type { OpaRun } from '../opa/run-opa.js'
import type { RequestAllowance } from './request-allowance.js'
import { requestRefused } from './request-error.js'
import { NO_METRICS } from './request-metrics.js'
import type { ParseOutcome, RequestMetrics } from './request-metrics.js'
import type { ParseModuleSettings } from './request-settings.js'

/**
 * A query with the built-in, since `opa parse` prints another tree: without comments, with
 * annotations.
 */
const QUERY = `json.marshal(${PARSE_MODULE}(input.file, input.text))`
const MS_PER_SECOND = 1000
const ENTRY_BYTES = 200
/** Low priority, one core, and frequent garbage collection, to favor decisions. */
const NICENESS = 5
const ENVIRONMENT = { GOMAXPROCS: '1', GOMEMLIMIT: '512MiB' }

const Parsed = z.object({
  result: z.tuple([z.object({ expressions: z.tuple([z.object({ value: z.string() })]) })]),
})
const Failed = z.object({ errors: z.array(z.object({ code: z.string(), message: z.string() })).min(1) })
const Answer = z.union([Parsed, Failed])

/**
 * Parses Rego for policies with the `opa` program: a few modules at a time, with limits on size and
 * time.
 */
export class ModuleParser {
  readonly #settings: ParseModuleSettings
  readonly #findOpa: () => Promise<OpaProgram>
  readonly #running: PQueue
  readonly #cache: BoundedCache<CallResult>
  readonly #parsed: RequestMetrics['parsed']
  #opa: Promise<OpaProgram> | undefined

  constructor(
    settings: ParseModuleSettings,
    findOpa: () => Promise<OpaProgram>,
    { parsed }: Pick<RequestMetrics, 'parsed'> = NO_METRICS,
  ) {
    this.#parsed = parsed
    this.#settings = settings
    this.#findOpa = findOpa
    this.#running = new PQueue({ concurrency: settings.programs })
    this.#cache = new BoundedCache(settings.cacheBytes, sizeOf)
  }

  /**
   * Returns the syntax tree of a module as JSON, or OPA's error. Raises `evaluation_failed` at the
   * limits, and `unavailable` if the queue is full or there is no program.
   */
  async parse(file: string, text: string, allowance: RequestAllowance): Promise<CallResult> {
    const { maxTextBytes } = this.#settings
    if (Buffer.byteLength(text) + Buffer.byteLength(file) > maxTextBytes) {
      throw refused(`its text is longer than ${maxTextBytes} bytes`, 'Parse less in policies', 'maxTextBytes')
    }
    const key = JSON.stringify([file, text])
    const known = this.#cache.get(key)
    if (known !== undefined) {
      this.#parsed('cached', 0)
      return known
    }
    const allowedMs = allowance.take(this.#settings.timeoutSeconds * MS_PER_SECOND)
    const deadline = AbortSignal.any([allowance.signal, AbortSignal.timeout(Math.ceil(allowance.leftMs()))])
    return await this.#inTurn(deadline, async () => {
      // Another evaluation may have parsed the same text.
      const parsed =
        this.#cache.get(key) ?? (await this.#tell(this.#run({ file, text }, allowedMs, allowance)))
      this.#cache.set(key, parsed)
      return parsed
    })
  }

  async #inTurn<T>(deadline: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { programs, queueLength } = this.#settings
    if (this.#running.pending >= programs && this.#running.size >= queueLength) throw crowded()
    return await waitInQueue(this.#running, work, deadline).catch((raw: unknown) => {
      throw raw === deadline.reason ? crowded() : raw
    })
  }

  async #tell(work: Promise<CallResult>): Promise<CallResult> {
    const startedMs = performance.now()
    let outcome: ParseOutcome = 'failed'
    try {
      const result = await work
      outcome = 'failure' in result ? 'no_module' : 'parsed'
      return result
    } catch (raw) {
      if (raw instanceof AppError && raw.kind === 'evaluation_failed') outcome = 'refused'
      throw raw
    } finally {
      this.#parsed(outcome, (performance.now() - startedMs) / MS_PER_SECOND)
    }
  }

  async #run(
    input: { readonly file: string; readonly text: string },
    timeLimitMs: number,
    { signal }: RequestAllowance,
  ): Promise<CallResult> {
    const { maxAnswerBytes } = this.#settings
    const args = ['eval', '--format', 'json', '--strict-builtin-errors', '--stdin-input', QUERY]
    const limits = { timeLimitMs, maxOutputBytes: maxAnswerBytes, signal }
    const opa = { ...(await this.#program()), niceness: NICENESS }
    try {
      return toResult(await runOpa(opa, args, { stdin: JSON.stringify(input), env: ENVIRONMENT, ...limits }))
    } catch (raw) {
      if (!(raw instanceof AppError)) throw raw
      if (raw.code === OPA_OVERRUN.time)
        throw refused(
          `it takes longer than ${timeLimitMs / MS_PER_SECOND} s`,
          'Parse less in policies',
          'timeoutSeconds',
          raw,
        )
      if (raw.code === OPA_OVERRUN.output)
        throw refused(
          `its tree is longer than ${maxAnswerBytes} bytes`,
          'Parse less in policies',
          'maxAnswerBytes',
          raw,
        )
      throw raw
    }
  }

  /** Cached once found. */
  async #program(): Promise<OpaProgram> {
    this.#opa ??= this.#findOpa()
    try {
      return await this.#opa
    } catch (raw) {
      this.#opa = undefined
      throw raw
    }
  }
}

function toResult({ stdout, stderr }: OpaRun): CallResult {
  const answer = Answer.safeParse(jsonOf(stdout)).data
  if (answer !== undefined && 'result' in answer) return { value: answer.result[0].expressions[0].value }
  const [error] = answer?.errors ?? []
  if (error?.code !== 'eval_builtin_error')
    throw new AppError(
      'evaluation_failed',
      `${PARSE_MODULE}: opa failed: ${error?.message ?? stderr.slice(0, 500)}`,
    )
  return { failure: { cause: 'internal', message: error.message.replace(`${PARSE_MODULE}: `, '') } }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refused(problem: string, advice: string, key: keyof ParseModuleSettings, cause?: Error): AppError {
  return requestRefused(
    `${PARSE_MODULE}: ${problem}. ${advice}, or raise policies.parseModule.${key}.`,
    cause,
  )
}

function crowded(): AppError {
  return new AppError(
    'unavailable',
    'the policy was not evaluated: too many decisions wait for modules to be parsed. Retry later.',
    { code: 'evaluation_unavailable', retryAfterSeconds: 1 },
  )
}

function sizeOf(key: string, result: CallResult): number {
  const length =
    'failure' in result
      ? result.failure.message.length
      : typeof result.value === 'string'
        ? result.value.length
        : 0
  return ENTRY_BYTES + 2 * (key.length + length)
}
