import type { Agent, Dispatcher } from 'undici'
import { AppError, toError } from '../../errors/app-error.js'
import { partOnDemand } from '../on-demand.js'
import type { AddressPolicy } from './address-policy.js'
import { makeCheckedLookup, resolveHost } from './checked-lookup.js'
import type { ResolveHost } from './checked-lookup.js'
import { OutboundError } from './outbound-error.js'
import { readBody, readStart, BodyTooLarge } from './read-body.js'
import type { TakeChunk } from './read-body.js'
import { refuseTarget } from './refuse-target.js'
import { tlsProblem } from './tls-problem.js'

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

export interface OutboundRequest {
  readonly method: OutboundMethod
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** For the whole request, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** Of the body of any other response than 2xx so much is given and the rest is not read; without it, as of every response. */
  readonly maxRefusalBytes?: number
  readonly signal?: AbortSignal | undefined
  /**
   * Is given the body of a 2xx response piece by piece, whose `body` is then empty. What it raises as an AppError is raised by
   * `send`. It may have taken a part when the request fails in the end.
   */
  readonly takeBody?: TakeChunk
}

export interface OutboundResponse {
  readonly status: number
  /** The words behind the status, as `Not Found`; empty where there are none. */
  readonly reason: string
  /** Names in lower case; several values of one name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** The same with each value by itself. */
  readonly headerValues: Readonly<Record<string, readonly string[]>>
  readonly body: Buffer
}

export interface OutboundClient {
  /**
   * Returns the response, whatever its status; raises an `OutboundError` where there is none. Redirects are not followed.
   */
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  /** Refuses new requests, and resolves when those under way have ended, each by its own time limit at the latest. */
  readonly close: () => Promise<void>
}

export interface OutboundClientOptions {
  readonly resolve?: ResolveHost
  /** More requests to one origin wait for a connection, and their time runs meanwhile. */
  readonly connectionsPerOrigin?: number
  /** For a connection and the agreement on its keys, in milliseconds; 10 seconds unless told. */
  readonly connectTimeoutMs?: number
  /** PEM certificates of authorities to trust instead of the built-in ones. */
  readonly ca?: string | readonly string[] | undefined
  /** PEM: what this side is known by to servers that ask for it. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The name that certificates must be for, where it is not the host of the URL. */
  readonly servername?: string | undefined
}

const DEFAULT_CONNECTIONS = 128
const CONNECT_TIMEOUT_MS = 10_000
/** Origins whose connections are kept at the same time. */
const MAX_ORIGINS = 2048

/** A client that connects only to addresses that its policy allows: the address that was checked is the one used. */
export function makeOutboundClient(
  policy: AddressPolicy,
  options: OutboundClientOptions = {},
): OutboundClient {
  const { resolve = resolveHost, connectionsPerOrigin = DEFAULT_CONNECTIONS } = options
  const agentOptions: Agent.Options = {
    connections: connectionsPerOrigin,
    maxOrigins: MAX_ORIGINS,
    // The whole request has a time limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      lookup: makeCheckedLookup(policy, resolve),
      timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      ...tlsOptions(options),
    },
  }
  let made: Agent | undefined
  const ask: Ask = async (options, signal) => {
    const undici = await loadUndici().catch(notLoaded)
    // An agent that is made for an aborted request would never be closed.
    signal.throwIfAborted()
    made ??= new undici.Agent(agentOptions)
    return await made.request(options)
  }
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false
  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const refusal = refuseTarget(request.url, policy)
    if (refusal !== undefined) throw new OutboundError('target_refused', refusal)
    if (isClosed) throw new OutboundError('aborted', 'the service is ending and sends no more requests')
    const sending = sendWithin(ask, request)
    underWay.add(sending)
    return sending.finally(() => underWay.delete(sending))
  }
  const close = async (): Promise<void> => {
    isClosed = true
    await Promise.allSettled(underWay)
    await made?.destroy()
  }
  return { send, close }
}

interface TlsOptions {
  readonly ca?: string | string[]
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
}

/** Those that are there: the library tells an option that is undefined from one that is absent. */
function tlsOptions({ ca, cert, key, servername }: OutboundClientOptions): TlsOptions {
  return {
    ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
  }
}

type Ask = (options: Dispatcher.RequestOptions, signal: AbortSignal) => Promise<Dispatcher.ResponseData>

/** Loaded with the first request: it takes memory that a service without outgoing requests does not need. */
const loadUndici = partOnDemand(() => import('undici'))

function notLoaded(cause: unknown): never {
  throw new OutboundError('not_connected', toError(cause).message, cause)
}

async function sendWithin(ask: Ask, request: OutboundRequest): Promise<OutboundResponse> {
  const { signal, timeoutMs } = request
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new RequestTimedOut()), timeoutMs)
  const giveUp = (): void => ending.abort()
  // Not AbortSignal.any, which keeps a trace of every request on a signal that lives long.
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted === true) giveUp()
  try {
    // undici heeds the signal only from when the connection stands.
    return await Promise.race([rejectOnAbort(ending.signal), exchange(ask, request, ending.signal)])
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw toOutboundError(ending.signal.aborted ? ending.signal.reason : raw, request)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(toError(signal.reason))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

async function exchange(
  ask: Ask,
  { url, method, headers = {}, body, maxResponseBytes, maxRefusalBytes, takeBody }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { origin, pathname, search } = new URL(url)
  const path = `${pathname}${search}`
  // Without the first header a server may compress, and a small answer could unpack to a huge one.
  const sent = { 'accept-encoding': 'identity', ...headers }
  const sending = { origin, path, method, headers: sent, body: body ?? null, signal }
  const response = await ask(sending, signal)
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300
  return {
    status: response.statusCode,
    reason: response.statusText,
    ...headersOf(response.headers),
    body:
      isSuccess || maxRefusalBytes === undefined
        ? await readBody(response, maxResponseBytes, isSuccess ? takeBody : undefined)
        : await readStart(response, maxRefusalBytes),
  }
}

function headersOf(
  headers: Dispatcher.ResponseData['headers'],
): Pick<OutboundResponse, 'headers' | 'headerValues'> {
  const lists = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat()] as const)
  return {
    headers: Object.fromEntries(lists.map(([name, values]) => [name, values.join(', ')] as const)),
    headerValues: Object.fromEntries(lists),
  }
}

interface FailedRequest {
  readonly url: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** Why a request is aborted when its time is over. */
class RequestTimedOut extends Error {}

/** What undici calls a request that could never be sent, such as one with a line break in a header. */
const UNSENDABLE = 'UND_ERR_INVALID_ARG'
const HEADERS_TOO_LARGE = 'UND_ERR_HEADERS_OVERFLOW'
const CLIENT_ENDED: readonly unknown[] = ['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']
const CONNECT_TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT'

/** Whatever a request ended with, as an error that says where to and why. */
export function toOutboundError(
  raw: unknown,
  { url, timeoutMs, maxResponseBytes }: FailedRequest,
): OutboundError {
  if (raw instanceof OutboundError) return raw
  const error = toError(raw)
  const code = codeOf(error)
  const { origin, protocol } = new URL(url)
  if (error instanceof BodyTooLarge || code === HEADERS_TOO_LARGE) {
    return new OutboundError('too_large', `${origin} answered with more than ${maxResponseBytes} bytes`)
  }
  if (error instanceof RequestTimedOut) {
    return new OutboundError('timed_out', `${origin} did not answer in full within ${timeoutMs} ms`)
  }
  if (error.name === 'AbortError' || CLIENT_ENDED.includes(code)) {
    return new OutboundError('aborted', `the request to ${origin} was given up`)
  }
  if (code === UNSENDABLE) {
    return new OutboundError(
      'target_refused',
      `the request to ${origin} cannot be sent: ${error.message}`,
      raw,
    )
  }
  if (code === CONNECT_TIMED_OUT) {
    return new OutboundError('timed_out', `${origin} did not take the connection in time`, raw)
  }
  const what =
    tlsProblem(error, code, protocol === 'http:') ??
    (error.message === '' ? (code ?? 'no connection') : error.message)
  return new OutboundError('not_connected', `${origin} could not be reached: ${what}`, raw)
}

/** The code of an error; of the first where several connections were tried. */
function codeOf(error: Error): string | undefined {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
