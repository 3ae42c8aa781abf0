import { z } from 'zod'

import { AppError, toError } from '../../../errors/app-error.js'
import type {
  OutboundClient,
  OutboundRequest,
  OutboundResponse,
} from '../../../lib/outbound/outbound-client.js'
import { OutboundError } from '../../../lib/outbound/outbound-error.js'
import { sendWithRetries } from '../../../lib/outbound/send-with-retries.js'
import type { FetchBudget } from '../../sources.js'
import { AnswerReading } from './answer-reading.js'
import type { ReadAnswer } from './answer-reading.js'
import { describeMarkup } from './describe-markup.js'
import { describeRefusal, shorten } from './describe-refusal.js'

/** A request before it is sent. */
interface UnsignedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** The headers that authenticate a request. */
export type SignRequest = (request: UnsignedRequest) => Readonly<Record<string, string>>

/** The settings of a connection to one server. */
export interface ConnectionSettings {
  /** The name of the source, at the start of its error messages. */
  readonly name: string
  /** Its path is kept, as with a proxy. */
  readonly url: string
  /** Credentials and the tenant; sent with every request, never shown. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Authenticates requests, if that depends on the request or needs a request of its own. Returns a
   * sentence if it fails.
   */
  readonly authorize?: ((deadline: Deadline) => Promise<SignRequest | string>) | undefined
  readonly requestTimeoutMs: number
  readonly maxResponseBytes: number
}

/** Network, clock and random numbers. */
export interface ConnectionParts {
  readonly client: OutboundClient
  readonly now: () => number
  /** The time of day in milliseconds since the epoch, which servers compare signatures with. */
  readonly timeOfDay: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
}

/** The end of a budget. */
export interface Deadline {
  readonly atMs: number
  readonly signal: AbortSignal | undefined
}

export interface SourceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the URL of the server: `/api/v1/query_range`. */
  readonly path: string
  /** Each of several values is a parameter of its own. */
  readonly search?: Readonly<Record<string, string | readonly string[]>>
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Content type of the JSON, if it is not `application/json`. */
  readonly contentType?: string
  /** In addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The content of a JSON answer, or a sentence that says why there is none, with the status or the
 * kind of failure if the caller handles it.
 */
export type Reply<Answer> =
  | { readonly isAnswered: true; readonly answer: Answer }
  | {
      readonly isAnswered: false
      readonly problem: string
      readonly status?: number | undefined
      readonly isTooLarge: boolean
    }

export interface SourceConnection {
  readonly name: string
  readonly startBudget: (budget: FetchBudget) => Deadline
  /**
   * Sends a request. Never rejects. Retries 429, 5xx and network failures within the budget;
   * `begin` is called for each attempt, and only the last one counts.
   */
  readonly send: <Answer>(
    request: SourceRequest,
    deadline: Deadline,
    begin: () => ReadAnswer<Answer>,
  ) => Promise<Reply<Answer>>
}

const ATTEMPTS = 4
/** Maximum size of a refusing answer: more than the reasons of any server. */
const MAX_REFUSAL_BYTES = 16 * 1024

/** Connects to one server. */
export function makeSourceConnection(settings: ConnectionSettings, parts: ConnectionParts): SourceConnection {
  return {
    name: settings.name,
    startBudget: ({ budgetMs, signal }) => ({ atMs: parts.now() + budgetMs, signal }),
    send: (request, deadline, begin) => send(request, deadline, begin, settings, parts),
  }
}

async function send<Answer>(
  request: SourceRequest,
  deadline: Deadline,
  begin: () => ReadAnswer<Answer>,
  settings: ConnectionSettings,
  { client, now, wait, random }: ConnectionParts,
): Promise<Reply<Answer>> {
  const { name } = settings
  const { atMs, signal } = deadline
  const sign = await settings.authorize?.(deadline)
  if (typeof sign === 'string') return noAnswer(sign)
  const budgetMs = atMs - now()
  if (signal?.aborted === true) return noAnswer(`${name}: the fetch was given up`)
  if (budgetMs <= 0) return noAnswer(`${name}: the time for this fetch is used up`)
  let reading = new AnswerReading(begin())
  const send: OutboundClient['send'] = async (sent) => {
    reading = new AnswerReading(begin())
    return heedThrottling(await client.send({ ...sent, takeBody: (chunk) => reading.push(chunk) }))
  }
  try {
    const retrying = { budgetMs, attempts: ATTEMPTS, now, wait, random }
    const sent = toOutbound(request, settings, sign, signal)
    const { status, body } = await sendWithRetries({ send }, sent, retrying)
    if (status < 200 || status > 299) return noAnswer(`${name} ${describeRefusal(status, body)}`, { status })
    return { isAnswered: true, answer: reading.end() }
  } catch (raw) {
    return noReading(raw, settings, reading)
  }
}

function noReading(
  raw: unknown,
  { name }: ConnectionSettings,
  { start }: AnswerReading<unknown>,
): Reply<never> {
  if (!(raw instanceof AppError)) return noAnswer(`${name}: ${toError(raw).message}`)
  if (raw instanceof OutboundError) {
    return noAnswer(`${name}: ${raw.message}`, { isTooLarge: raw.reason === 'too_large' })
  }
  const isTooLarge = raw.kind === 'too_large'
  if (isTooLarge)
    return noAnswer(`${name} answered with too much: ${raw.message}; narrow the query`, { isTooLarge })
  const markup = describeMarkup(start)
  if (markup === undefined)
    return noAnswer(`${name} answered with ${raw.message}: ${shorten(start) || 'nothing'}`)
  const rather = markup.isPage
    ? 'which must be that of its API'
    : 'which must be that of an API that answers with JSON'
  return noAnswer(`${name} answered with ${shorten(markup.description)}: see its url, ${rather}`)
}

function toOutbound(
  { method, path, search, form, json, contentType = 'application/json', headers: own }: SourceRequest,
  settings: ConnectionSettings,
  sign: SignRequest | undefined,
  signal: AbortSignal | undefined,
): OutboundRequest {
  const url = new URL(settings.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  for (const [name, values] of Object.entries(search ?? {})) {
    for (const value of [values].flat()) url.searchParams.append(name, value)
  }
  const content =
    form !== undefined
      ? { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() }
      : json !== undefined
        ? { type: contentType, body: JSON.stringify(json) }
        : undefined
  const headers = {
    accept: 'application/json',
    ...(content === undefined ? {} : { 'content-type': content.type }),
    ...own,
    ...settings.headers,
  }
  return {
    method,
    url: url.toString(),
    headers: { ...headers, ...sign?.({ method, url, headers, body: content?.body ?? '' }) },
    ...(content === undefined ? {} : { body: content.body }),
    timeoutMs: settings.requestTimeoutMs,
    maxResponseBytes: settings.maxResponseBytes,
    maxRefusalBytes: MAX_REFUSAL_BYTES,
    signal,
  }
}

function noAnswer(problem: string, { status, isTooLarge = false }: NoAnswerDetails = {}): Reply<never> {
  return { isAnswered: false, problem, status, isTooLarge }
}

interface NoAnswerDetails {
  readonly status?: number
  readonly isTooLarge?: boolean
}

const BAD_REQUEST = 400
const TOO_MANY_REQUESTS = 429
/** A larger number is a time, not a number of seconds from now. */
const MAX_RESET_SECONDS = 3600

/** Services of Amazon with a JSON protocol name the error in the body. */
const NamedError = z.object({ __type: z.string() })
const THROTTLED = /(?:^|#)(?:Throttling\w*|TooManyRequests\w*|RequestLimitExceeded|LimitExceededException)$/

/**
 * Translates services' own throttling responses into HTTP: Amazon's services throttle with 400, and
 * Datadog reports in `X-RateLimit-Reset` the seconds until the limit resets.
 */
function heedThrottling(response: OutboundResponse): OutboundResponse {
  if (response.status === TOO_MANY_REQUESTS) return withRetryAfter(response)
  return response.status === BAD_REQUEST && isThrottled(response.body)
    ? { ...response, status: TOO_MANY_REQUESTS }
    : response
}

function withRetryAfter(response: OutboundResponse): OutboundResponse {
  const { headers } = response
  const reset = headers['x-ratelimit-reset'] ?? ''
  if (headers['retry-after'] !== undefined || !/^\d{1,4}$/.test(reset)) return response
  const seconds = Math.min(Number(reset), MAX_RESET_SECONDS)
  return { ...response, headers: { ...headers, 'retry-after': String(seconds) } }
}

function isThrottled(body: Buffer): boolean {
  try {
    const error = NamedError.safeParse(JSON.parse(body.toString()))
    return error.success && THROTTLED.test(error.data.__type)
  } catch {
    return false
  }
}
