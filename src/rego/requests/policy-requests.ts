import { setMaxListeners } from 'node:events'

import { AppError, toError } from '../../errors/app-error.js'
import { makePassedTime } from '../../lib/clocks/passed-time.js'
import { resolveHost } from '../../lib/outbound/checked-lookup.js'
import type { ResolveHost } from '../../lib/outbound/checked-lookup.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import { readRequest, unsupportedParameters } from '../builtins/http/http-request.js'
import { BuiltinError } from '../builtins/shared/builtin.js'
import type { CallResult, MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { RegoObject } from '../values/value.js'
import { cachedResponse } from './cached-response.js'
import { lookUpAddress } from './look-up-address.js'
import type { ModuleParser } from './module-parser.js'
import { toValue } from './received-response.js'
import { RequestAllowance } from './request-allowance.js'
import { RequestClients } from './request-clients.js'
import { requestRefused } from './request-error.js'
import { NO_FIGURES, hostLabel } from './request-figures.js'
import type { RequestFigures } from './request-figures.js'
import type { Sending } from './send-request.js'
import type { RequestSettings } from './request-settings.js'
import { makeResponseCache } from './response-cache.js'
import type { ResponseCache } from './response-cache.js'

/** The requests of one decision. */
export interface DecisionRequests {
  /** Finds out what a call gives and records it. Raises `evaluation_failed` where it may not be found out, and at the limits. */
  readonly answer: (call: MissingCall, recorded: RecordedCalls) => Promise<void>
  /** To be called when the decision is made, however it ended: there is room for another then. */
  readonly end: () => void
}

/** What requests are made with, beside their settings. */
export interface PolicyRequestsParts {
  readonly resolve?: ResolveHost
  /** Absent where policies may have nothing parsed. */
  readonly parser?: ModuleParser | undefined
  readonly figures?: RequestFigures | undefined
  /** How much time has passed, in milliseconds from anywhere. */
  readonly passed?: () => number
}

/** What policies ask of others, for all decisions. */
export class PolicyRequests {
  readonly #settings: RequestSettings
  readonly #clients: RequestClients
  readonly #cache: ResponseCache
  readonly #resolve: ResolveHost
  readonly #parser: ModuleParser | undefined
  readonly #figures: RequestFigures
  readonly #passed: () => number
  readonly #closing = new AbortController()
  #waiting = 0

  constructor(
    settings: RequestSettings,
    {
      resolve = resolveHost,
      parser,
      figures = NO_FIGURES,
      passed = makePassedTime(),
    }: PolicyRequestsParts = {},
  ) {
    this.#settings = settings
    this.#passed = passed
    // One for each decision that waits; Node warns of more than ten.
    setMaxListeners(0, this.#closing.signal)
    this.#resolve = resolve
    this.#parser = parser
    this.#figures = figures
    this.#clients = new RequestClients(settings, {
      resolve,
      // Nobody waits for a connection: that would use up the time for an answer.
      connectionsPerOrigin: settings.maxWaiting,
    })
    this.#cache = makeResponseCache(settings.cacheBytes)
  }

  /**
   * The requests of a decision that is made at `nowMs`; when `gone` is aborted, nobody waits for it any more. Raises `unavailable` when too many decisions wait
   * for answers.
   */
  begin(nowMs: number, gone: AbortSignal): DecisionRequests {
    if (this.#waiting >= this.#settings.maxWaiting) {
      throw new AppError(
        'unavailable',
        'the policy was not evaluated: too many decisions wait for the answers of others. Ask again later.',
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

  /** Gives up what is under way. */
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
        `${name}: policies may ask nobody: name the hosts in policies.requests.allowedHosts`,
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
      throw new AppError('internal', `${PARSE_MODULE} is asked for no text`)
    return await this.#parser.parse(file, text, allowance)
  }

  async #send(
    key: string,
    parameters: RegoObject,
    nowMs: number,
    allowance: RequestAllowance,
  ): Promise<CallResult> {
    const { maxResponseBytes, allowedHosts } = this.#settings
    const { requested, cached } = this.#figures
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
      // Such as a certificate that is none.
      return { failure: { cause: raw instanceof BuiltinError ? 'internal' : 'network', message } }
    }
  }
}

/** Raises `evaluation_failed` for parameters that are not taken here, BuiltinError for those that nobody would take. */
function requireSupported(parameters: RegoObject): void {
  const unsupported = unsupportedParameters(parameters)
  if (unsupported.length === 0) return
  throw requestRefused(
    `http.send: ${unsupported.join(', ')} ${unsupported.length === 1 ? 'is' : 'are'} not supported: give certificates and keys as PEM texts, and trust a server by tls_ca_cert`,
  )
}
