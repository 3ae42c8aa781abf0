import { setMaxListeners } from 'node:events'
import { isIP } from 'node:net'

import { AppError, toError } from '../../errors/app-error.js'
import { makePassedTime } from '../../lib/clocks/passed-time.js'
import { resolveHost } from '../../lib/outbound/checked-lookup.js'
import type { ResolveHost } from '../../lib/outbound/checked-lookup.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import { readRequest, unsupportedParameters } from '../builtins/http/http-request.js'
import { BuiltinError } from '../builtins/shared/builtin.js'
import type { CallResult, MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { RegoObject, RegoSet } from '../values/value.js'
import { cachedResponse } from './cached-response.js'
import type { ModuleParser } from './module-parser.js'
import { toValue } from './received-response.js'
import { RequestAllowance } from './request-allowance.js'
import { RequestClients } from './request-clients.js'
import { requestRefused } from './request-error.js'
import { NO_METRICS, hostLabel } from './request-metrics.js'
import type { RequestMetrics } from './request-metrics.js'
import type { Sending } from './send-request.js'
import type { RequestSettings } from './request-settings.js'
import { makeResponseCache } from './response-cache.js'
import type { ResponseCache } from './response-cache.js'
import { isListedHost } from '../../lib/outbound/address-policy.js'
import { newCall } from '../evaluation/new-call.js'
import type { NewCallOptions } from '../evaluation/new-call.js'
import { AnswerMissing } from '../evaluation/answer-missing.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

const NEVER = new AbortController().signal

/** The requests of one decision. */
export interface DecisionRequests {
  /**
   * Answers a call and records the result. Raises `evaluation_failed` if the request is not
   * allowed, or at the limits.
   */
  readonly answer: (call: MissingCall, recorded: RecordedCalls) => Promise<void>
  /** Must be called after the decision, so that another one can start. */
  readonly end: () => void
}

/** The dependencies of requests, apart from settings. */
export interface PolicyRequestsParts {
  readonly resolve?: ResolveHost
  /** Absent if policies may not parse modules. */
  readonly parser?: ModuleParser | undefined
  readonly metrics?: RequestMetrics | undefined
  /** Elapsed time in milliseconds from any start. */
  readonly passed?: () => number
}

/** Sends the requests of policies for all decisions. */
export class PolicyRequests {
  readonly #settings: RequestSettings
  readonly #clients: RequestClients
  readonly #cache: ResponseCache
  readonly #resolve: ResolveHost
  readonly #parser: ModuleParser | undefined
  readonly #metrics: RequestMetrics
  readonly #passed: () => number
  readonly #closing = new AbortController()
  #waiting = 0

  constructor(
    settings: RequestSettings,
    {
      resolve = resolveHost,
      parser,
      metrics = NO_METRICS,
      passed = makePassedTime(),
    }: PolicyRequestsParts = {},
  ) {
    this.#settings = settings
    this.#passed = passed
    // One listener for each waiting decision. Node.js warns above ten.
    setMaxListeners(0, this.#closing.signal)
    this.#resolve = resolve
    this.#parser = parser
    this.#metrics = metrics
    this.#clients = new RequestClients(settings, {
      resolve,
      // No wait for a connection, which would use up the response time.
      connectionsPerOrigin: settings.maxWaiting,
    })
    this.#cache = makeResponseCache(settings.cacheBytes)
  }

  /**
   * Starts the requests of a decision made at `nowMs`; `gone` aborts them. Raises `unavailable` if
   * too many decisions wait for responses.
   */
  begin(nowMs: number, gone: AbortSignal): DecisionRequests {
    if (this.#waiting >= this.#settings.maxWaiting) {
      throw new AppError(
        'unavailable',
        'the policy was not evaluated: too many decisions wait for responses of other services. Retry later.',
        { code: 'evaluation_unavailable', retryAfterSeconds: 1 },
      )
    }
    this.#waiting += 1
    const ending = new AbortController()
    const end = (): void => ending.abort()
    for (const signal of [gone, this.#closing.signal]) signal.addEventListener('abort', end, { once: true })
    if (gone.aborted || this.#closing.signal.aborted) end()
    const allowance = new RequestAllowance(this.#settings, ending.signal)
    return {
      answer: async (call, recorded) => {
        const { key, name, args } = call
        recorded.set(key, { name, args, result: await this.#find(call, nowMs, allowance) })
      },
      end: () => {
        this.#waiting -= 1
        for (const signal of [gone, this.#closing.signal]) signal.removeEventListener('abort', end)
      },
    }
  }

  /** Aborts running requests. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#clients.close()
  }

  async #find(
    { key, name, args }: MissingCall,
    nowMs: number,
    allowance: RequestAllowance,
  ): Promise<CallResult> {
    if (name === PARSE_MODULE) return await this.#parse(args, allowance)
    const [operand] = args
    if (this.#settings.allowedHosts.length === 0) {
      throw requestRefused(
        `${name}: policies may send no requests. Add hosts to policies.requests.allowedHosts`,
      )
    }
    if (name === LOOKUP && typeof operand === 'string')
      return await lookUpAddress(operand, this.#settings, this.#resolve, allowance)
    if (name === HTTP_SEND && operand instanceof RegoObject)
      return await this.#send(key, operand, nowMs, allowance)
    throw new AppError('internal', `nobody answers ${name}`)
  }

  async #parse([file, text]: MissingCall['args'], allowance: RequestAllowance): Promise<CallResult> {
    if (this.#parser === undefined)
      throw requestRefused(`${PARSE_MODULE}: set policies.parseModule.enabled to have modules parsed`)
    if (typeof file !== 'string' || typeof text !== 'string')
      throw new AppError('internal', `${PARSE_MODULE} needs a file name and a text`)
    return await this.#parser.parse(file, text, allowance)
  }

  async #send(
    key: string,
    parameters: RegoObject,
    nowMs: number,
    allowance: RequestAllowance,
  ): Promise<CallResult> {
    const { maxResponseBytes, allowedHosts } = this.#settings
    const { requested, cached } = this.#metrics
    try {
      requireSupported(parameters)
      const request = readRequest(parameters)
      const sending: Sending = {
        ...{ clients: this.#clients, allowance, maxResponseBytes },
        requested: (url, ...how) => requested(hostLabel(url, allowedHosts), ...how),
      }
      const response = await cachedResponse(key, request, sending, {
        cache: this.#cache,
        nowMs,
        passed: this.#passed,
        cached,
      })
      return 'cause' in response ? { failure: response } : { value: toValue(response) }
    } catch (raw) {
      if (raw instanceof AppError) throw raw
      const { message } = toError(raw)
      // For example an invalid certificate.
      return { failure: { cause: raw instanceof BuiltinError ? 'internal' : 'network', message } }
    }
  }
}

/**
 * Raises `evaluation_failed` for parameters that Tidegate does not support, and BuiltinError for
 * invalid ones.
 */
function requireSupported(parameters: RegoObject): void {
  const unsupported = unsupportedParameters(parameters)
  if (unsupported.length === 0) return
  throw requestRefused(
    `http.send: ${unsupported.join(', ')} ${unsupported.length === 1 ? 'is' : 'are'} not supported: give certificates and keys as PEM texts, and trust a server by tls_ca_cert`,
  )
}

/**
 * Returns all addresses of a name that policies may look up, as a set. Raises `evaluation_failed`
 * for other names and after a timeout.
 */
async function lookUpAddress(
  name: string,
  { allowedHosts }: RequestSettings,
  resolve: ResolveHost,
  allowance: RequestAllowance,
): Promise<CallResult> {
  const host = name.replace(/\.$/, '').toLowerCase()
  if (!isListedHost(host, allowedHosts)) {
    throw requestRefused(
      `net.lookup_ip_addr: ${JSON.stringify(name)} is not among the hosts of policies.requests.allowedHosts`,
    )
  }
  if (isIP(host) !== 0) return { value: new RegoSet([host]) }
  const timeoutMs = allowance.take()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), timeoutMs)
  })
  try {
    const found = await Promise.race([resolve(host), late])
    if (found !== 'late') return { value: new RegoSet(found.map(({ address }) => address)) }
    throw requestRefused(
      `net.lookup_ip_addr: ${JSON.stringify(name)} was not resolved within ${timeoutMs} ms`,
    )
  } catch (raw) {
    const error = toError(raw)
    if (!('syscall' in error)) throw raw
    return { failure: { cause: 'network', message: `lookup ${name}: ${error.message}` } }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Evaluates, and repeats the evaluation with answers of other hosts until none is missing. Raises
 * as the evaluation and `DecisionRequests.answer`. For programs with one decision at a time.
 */
export async function evaluateWithAnswers<A>(
  evaluate: (call: EvaluationCall) => A,
  requests: Pick<PolicyRequests, 'begin'>,
  { nowMs = Date.now(), recorded: known, ...options }: Omit<NewCallOptions, 'allowsRequests'> = {},
): Promise<A> {
  const decision = requests.begin(nowMs, NEVER)
  try {
    for (let recorded = known; ;) {
      options.cost?.clear()
      try {
        return evaluate(newCall({ ...options, nowMs, recorded, allowsRequests: true }))
      } catch (raw) {
        if (!(raw instanceof AnswerMissing)) throw raw
        await decision.answer(raw.call, raw.recorded)
        recorded = raw.recorded
      }
    }
  } finally {
    decision.end()
  }
}
