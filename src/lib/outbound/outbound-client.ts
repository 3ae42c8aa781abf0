import type { Agent, Dispatcher } from 'undici'

import { AppError, toError } from '../../errors/app-error.js'
import { partOnDemand } from '../on-demand.js'
import type { AddressPolicy } from './address-policy.js'
import { makeCheckedLookup, resolveHost } from './checked-lookup.js'
import type { ResolveHost } from './checked-lookup.js'
import { OutboundError } from './outbound-error.js'
import { refuseTarget } from './refuse-target.js'
import { tlsProblem } from './tls-problem.js'
import { CollectedBytes } from '../collected-bytes.js'

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

export interface OutboundRequest {
  readonly method: OutboundMethod
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Time limit of the whole request, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /**
   * Maximum bytes read of the body of a response other than 2xx; the rest is skipped. By default
   * `maxResponseBytes` applies.
   */
  readonly maxRefusalBytes?: number
  readonly signal?: AbortSignal | undefined
  /**
   * Receives the body of a 2xx response in pieces, in place of `body`. `send` rethrows its
   * AppErrors. It may have received a part when the request fails later.
   */
  readonly takeBody?: TakeChunk
}

export interface OutboundResponse {
  readonly status: number
  /** The reason phrase after the status, such as `Not Found`. May be empty. */
  readonly reason: string
  /** Names are in lower case. Several values of one name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** As `headers`, with each value separate. */
  readonly headerValues: Readonly<Record<string, readonly string[]>>
  readonly body: Buffer
}

export interface OutboundClient {
  /**
   * Returns the response of any status, without following redirects. Throws an `OutboundError` if
   * there is none.
   */
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  /**
   * Refuses new requests, and resolves when the running ones have ended, at the latest by their
   * time limits.
   */
  readonly close: () => Promise<void>
}

export interface OutboundClientOptions {
  readonly resolve?: ResolveHost
  /**
   * Further requests to the origin wait for a connection. The wait counts towards their time limit.
   */
  readonly connectionsPerOrigin?: number
  /**
   * Time limit of connecting, including the TLS handshake, in milliseconds. 10 seconds by default.
   */
  readonly connectTimeoutMs?: number
  /** PEM certificates of trusted authorities, in place of the built-in ones. */
  readonly ca?: string | readonly string[] | undefined
  /** PEM client certificate. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The name that certificates must be for, if it differs from the host of the URL. */
  readonly servername?: string | undefined
}

const DEFAULT_CONNECTIONS = 128
const CONNECT_TIMEOUT_MS = 10_000
/** Number of origins whose connections are kept. */
const MAX_ORIGINS = 2048

/**
 * Makes a client that connects only to addresses allowed by its policy. The checked address is the
 * one used.
 */
export function makeOutboundClient(
  policy: AddressPolicy,
  options: OutboundClientOptions = {},
): OutboundClient {
  const { resolve = resolveHost, connectionsPerOrigin = DEFAULT_CONNECTIONS } = options
  const agentOptions: Agent.Options = {
    connections: connectionsPerOrigin,
    maxOrigins: MAX_ORIGINS,
    // The whole request has its own time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      lookup: makeCheckedLookup(policy, resolve),
      timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      ...tlsOptions(options),
    },
  }
  let made: Agent | undefined
  const dispatch: Dispatch = async (options, signal) => {
    const undici = await loadUndici().catch(notLoaded)
    // An agent created for an aborted request would never be closed.
    signal.throwIfAborted()
    made ??= new undici.Agent(agentOptions)
    return await made.request(options)
  }
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false
  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const refusal = refuseTarget(request.url, policy)
    if (refusal !== undefined) throw new OutboundError('target_refused', refusal)
    if (isClosed)
      throw new OutboundError('aborted', 'the service is shutting down and sends no more requests')
    const sending = sendWithin(dispatch, request)
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

/** Omits absent options, because undici treats undefined ones differently. */
function tlsOptions({ ca, cert, key, servername }: OutboundClientOptions): TlsOptions {
  return {
    ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
  }
}

type Dispatch = (options: Dispatcher.RequestOptions, signal: AbortSignal) => Promise<Dispatcher.ResponseData>

/** Loaded with the first request, to save memory in a service without outgoing requests. */
const loadUndici = partOnDemand(() => import('undici'))

function notLoaded(cause: unknown): never {
  throw new OutboundError('not_connected', toError(cause).message, cause)
}

async function sendWithin(dispatch: Dispatch, request: OutboundRequest): Promise<OutboundResponse> {
  const { signal, timeoutMs } = request
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new RequestTimedOut()), timeoutMs)
  const giveUp = (): void => ending.abort()
  // AbortSignal.any would retain memory for every request on a long-lived signal.
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted === true) giveUp()
  try {
    // undici observes the signal only once connected.
    return await Promise.race([rejectOnAbort(ending.signal), exchange(dispatch, request, ending.signal)])
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
  dispatch: Dispatch,
  { url, method, headers = {}, body, maxResponseBytes, maxRefusalBytes, takeBody }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { origin, pathname, search } = new URL(url)
  const path = `${pathname}${search}`
  // Otherwise a server may compress, and a small response could expand to a huge one.
  const sent = { 'accept-encoding': 'identity', ...headers }
  const sending = { origin, path, method, headers: sent, body: body ?? null, signal }
  const response = await dispatch(sending, signal)
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

/** The abort reason of a request that exceeded its time limit. */
class RequestTimedOut extends Error {}

/**
 * undici's code for a request that can never be sent, for example with a line break in a header.
 */
const UNSENDABLE = 'UND_ERR_INVALID_ARG'
const HEADERS_TOO_LARGE = 'UND_ERR_HEADERS_OVERFLOW'
const CLIENT_ENDED: readonly unknown[] = ['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']
const CONNECT_TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT'

/** Converts the failure of a request to an error that names the target and the cause. */
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
    return new OutboundError('timed_out', `${origin} did not accept the connection in time`, raw)
  }
  const what =
    tlsProblem(error, code, protocol === 'http:') ??
    (error.message === '' ? (code ?? 'no connection') : error.message)
  return new OutboundError('not_connected', `${origin} could not be reached: ${what}`, raw)
}

/** The code of an error, or of the first one if several connections failed. */
function codeOf(error: Error): string | undefined {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The body exceeds the limit. */
class BodyTooLarge extends Error {}

/** Receives a body in pieces. The next piece waits until the promise resolves. */
type TakeChunk = (chunk: Buffer) => void | Promise<void>

/**
 * Reads the whole body of a response. Returns nothing if `take` receives it. Throws `BodyTooLarge`
 * and drops the connection when the limit is exceeded.
 */
async function readBody(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  take?: TakeChunk,
): Promise<Buffer> {
  const collected = new CollectedBytes()
  let length = 0
  const isAnnounced = Number(headers['content-length'] ?? 0) > maxBytes
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    // Leaving the loop destroys the stream.
    if (isAnnounced || length > maxBytes) throw new BodyTooLarge()
    if (take === undefined) collected.add(chunk)
    else await take(chunk)
  }
  return collected.take()
}

/** Reads the start of the body of a response. Drops the connection if there is more. */
async function readStart({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const collected = new CollectedBytes()
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const remainingBytes = maxBytes - collected.length
    collected.add(chunk.subarray(0, remainingBytes))
    if (chunk.length > remainingBytes) break
  }
  return collected.take()
}
