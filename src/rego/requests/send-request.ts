import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { backOffMs, wait } from '../../lib/outbound/back-off.js'
import type { OutboundMethod } from '../../lib/outbound/outbound-client.js'
import { OutboundError } from '../../lib/outbound/outbound-error.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import type { PolicyRequest } from '../builtins/http/http-request.js'
import type { CallFailure } from '../builtins/shared/recorded-calls.js'
import type { RequestAllowance } from './request-allowance.js'
import type { RequestClients } from './request-clients.js'
import type { ReceivedResponse } from './received-response.js'
import { requestRefused } from './request-error.js'
import { outcomeOfStatus } from './request-metrics.js'
import type { RequestOutcome } from './request-metrics.js'
import { hasErrorCode } from '../../errors/app-error.js'

const METHODS: ReadonlyMap<string, OutboundMethod> = new Map(
  (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const).map((method) => [method, method]),
)
const MS_PER_SECOND = 1000
const MAX_REDIRECTS = 10
/** OPA's default timeout. */
const DEFAULT_TIMEOUT_MS = 5000
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
/** Redirects that keep the method and the body. */
const REPEATING: readonly number[] = [307, 308]
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 60_000
/** Headers for the first host only, including `Host`. */
const OF_ONE_HOST: readonly string[] = ['authorization', 'www-authenticate', 'cookie', 'cookie2', 'host']

/** The dependencies of a request. */
export interface Sending {
  readonly clients: Pick<RequestClients, 'send'>
  readonly allowance: RequestAllowance
  readonly maxResponseBytes: number
  /** Receives the outcome and duration in seconds of each request. */
  readonly requested: (url: string, outcome: RequestOutcome, seconds: number) => void
}

/**
 * Sends a policy's request, with retries after network errors if the policy sets them. Returns the
 * response, or the error that the policy handles. Raises `evaluation_failed` for a request that is
 * not allowed, and at the limits.
 */
export async function sendRequest(
  request: PolicyRequest,
  sending: Sending,
): Promise<ReceivedResponse | CallFailure> {
  const method = METHODS.get(request.method)
  if (method === undefined) {
    throw requestRefused(
      `http.send: the method ${JSON.stringify(request.method)} is not sent: use one of ${[...METHODS.keys()].join(', ')}`,
    )
  }
  for (let attempt = 1; ; attempt += 1) {
    const response = await followed({ ...request, method }, sending)
    if (!('cause' in response) || attempt > request.maxRetries) return response
    const pauseMs = backOffMs(attempt, {
      baseMs: FIRST_RETRY_MS,
      maxMs: LONGEST_RETRY_MS,
      random: Math.random,
    })
    await wait(Math.min(pauseMs, sending.allowance.leftMs()), sending.allowance.signal)
  }
}

interface Step extends PolicyRequest {
  readonly method: OutboundMethod
}

async function followed(first: Step, sending: Sending): Promise<ReceivedResponse | CallFailure> {
  let step = first
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendOnce(step, sending)
    if ('cause' in response || !first.followsRedirects || !REDIRECTS.includes(response.status))
      return response
    const [location] = response.headers['location'] ?? []
    if (location === undefined) return response
    if (redirects === MAX_REDIRECTS) {
      return networkFailure(step, `stopped after ${MAX_REDIRECTS} redirects`)
    }
    if (!URL.canParse(location, step.url)) {
      return networkFailure(step, 'the redirect location is not a URL')
    }
    step = redirected(step, new URL(location, step.url), response.status)
  }
}

/**
 * Redirects as in Go's client: credentials go to no other host, and a body only if the request is
 * repeated. Credentials sent over TLS never go to plain HTTP.
 */
function redirected(step: Step, target: URL, status: number): Step {
  const from = new URL(step.url)
  const isAsSafe = from.protocol === 'http:' || target.protocol === 'https:'
  const keepsAll = target.host === from.host && isAsSafe
  const headers = step.headers.filter(([name]) => keepsAll || !OF_ONE_HOST.includes(name.toLowerCase()))
  const url = target.href
  if (REPEATING.includes(status) || step.method === 'GET' || step.method === 'HEAD')
    return { ...step, url, headers }
  return {
    ...step,
    url,
    body: '',
    method: 'GET',
    headers: headers.filter(([name]) => !/^content-/i.test(name)),
  }
}

async function sendOnce(step: Step, sending: Sending): Promise<ReceivedResponse | CallFailure> {
  const { clients, allowance, maxResponseBytes } = sending
  const startedMs = performance.now()
  const tell = (outcome: RequestOutcome): void =>
    sending.requested(step.url, outcome, (performance.now() - startedMs) / MS_PER_SECOND)
  const timeoutMs = allowance.take(step.timeoutMs)
  const wantsGzip = requestsGzip(step)
  try {
    const { method, url, headers, body, tls } = step
    const {
      status,
      reason,
      headerValues,
      body: received,
    } = await clients.send(
      {
        ...{ method, url, timeoutMs, maxResponseBytes, signal: allowance.signal },
        headers: {
          'user-agent': 'tidegate',
          ...(wantsGzip && { 'accept-encoding': 'gzip' }),
          ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        },
        ...(body !== '' && { body }),
      },
      tls,
    )
    tell(outcomeOfStatus(status))
    const response = { status, reason, headers: headerValues, body: received }
    const unpacked = wantsGzip ? await unpackResponse(response, maxResponseBytes) : response
    return unpacked ?? { cause: 'internal', message: 'gzip: the answer cannot be unpacked' }
  } catch (raw) {
    if (!(raw instanceof OutboundError)) throw raw
    tell(outcomeOfError(raw))
    if (raw.reason === 'target_refused' || raw.reason === 'too_large')
      throw requestRefused(`http.send: ${raw.message}. ${ADVICE[raw.reason]}`, raw)
    allowance.requireTime()
    if (raw.reason !== 'timed_out') return networkFailure(step, raw.message)
    if (timeoutMs >= (step.timeoutMs ?? DEFAULT_TIMEOUT_MS)) return networkFailure(step, 'request timed out')
    throw requestRefused(
      `http.send: ${shownUrl(step.url)} did not answer within ${timeoutMs} ms, and the policy waits longer. Raise policies.requests.timeoutSeconds, or lower the timeout of the request.`,
      raw,
    )
  }
}

function outcomeOfError({ reason }: OutboundError): RequestOutcome {
  if (reason === 'timed_out') return reason
  return reason === 'target_refused' || reason === 'too_large' ? 'refused' : 'failed'
}

const ADVICE = {
  target_refused: 'See policies.requests in the configuration.',
  too_large: 'Request less data, or raise policies.requests.maxResponseBytes.',
} as const

/** In the form of Go's client. */
function networkFailure({ method, url }: Step, message: string): CallFailure {
  const verb = `${method.charAt(0)}${method.slice(1).toLowerCase()}`
  return { cause: 'network', message: `${verb} ${JSON.stringify(shownUrl(url))}: ${message}` }
}

const OF_ENCODING = /^(?:accept-encoding|range)$/i
/** Headers of the compressed body, which the policy does not see. */
const OF_PACKED: readonly string[] = ['content-encoding', 'content-length']

/**
 * True if Go's client requests gzip itself (`net/http`, `Transport`): the policy requests no
 * encoding and no range.
 */
export function requestsGzip({ method, headers }: Pick<PolicyRequest, 'method' | 'headers'>): boolean {
  return method !== 'HEAD' && !headers.some(([name]) => OF_ENCODING.test(name))
}

/**
 * Returns a response without the gzip encoding that Go's client requested; undefined if it is
 * damaged. Raises `evaluation_failed` if it is larger than `maxBytes`.
 */
export async function unpackResponse(
  response: ReceivedResponse,
  maxBytes: number,
): Promise<ReceivedResponse | undefined> {
  const [encoding] = response.headers['content-encoding'] ?? []
  if (encoding?.toLowerCase() !== 'gzip' || response.body.length === 0) return response
  const headers = Object.entries(response.headers).filter(([name]) => !OF_PACKED.includes(name))
  try {
    const body = await promisify(gunzip)(response.body, { maxOutputLength: maxBytes })
    return { ...response, headers: Object.fromEntries(headers), body }
  } catch (cause) {
    if (!hasErrorCode(cause, 'ERR_BUFFER_TOO_LARGE')) return undefined
    throw requestRefused(
      `http.send: the answer unpacks to more than ${maxBytes} bytes. Request less data, or raise policies.requests.maxResponseBytes.`,
      cause,
    )
  }
}
