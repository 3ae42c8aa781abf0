import type { PolicyRequest } from '../builtins/http/http-request.js'
import type { CallFailure } from '../builtins/shared/recorded-calls.js'
import type { ReceivedResponse } from './received-response.js'
import type { CacheOutcome } from './request-metrics.js'
import type { CachedResponse, ResponseCache } from './response-cache.js'
import { sendRequest } from './send-request.js'
import type { Sending } from './send-request.js'
import { parseHttpDate } from '../../lib/text/http-date.js'

const OK = 200
const NOT_MODIFIED = 304
const MS_PER_SECOND = 1000

interface Shared {
  readonly cache: ResponseCache
  /** The time of the decision, also for freshness. */
  readonly nowMs: number
  /** Elapsed time in milliseconds from any start. */
  readonly passed: () => number
  /** Receives the result of the cache lookup. */
  readonly cached: (outcome: CacheOutcome) => void
}

/**
 * Returns the response to a request: from the cache if the policy wants it and it is fresh or the
 * server confirms it.
 */
export async function cachedResponse(
  key: string,
  request: PolicyRequest,
  sending: Sending,
  shared: Shared,
): Promise<ReceivedResponse | CallFailure> {
  if (!request.caching.isShared) return await sendRequest(request, sending)
  const known = shared.cache.get(key)
  if (known !== undefined && isFresh(known, shared)) {
    shared.cached('hit')
    return known.response
  }
  const renewed = known && (await renew(key, known, request, sending, shared))
  shared.cached(renewed === undefined ? 'miss' : 'renewed')
  if (renewed !== undefined) return renewed
  const response = await sendRequest(request, sending)
  if (!('cause' in response)) store(key, response, request, shared)
  return response
}

/** Returns the confirmed response; undefined if the server must send a new one. */
async function renew(
  key: string,
  { response }: CachedResponse,
  request: PolicyRequest,
  sending: Sending,
  shared: Shared,
): Promise<ReceivedResponse | CallFailure | undefined> {
  const conditions = conditionsOf(response.headers)
  if (conditions === undefined) return undefined
  shared.cache.delete(key)
  const answer = await sendRequest({ ...request, headers: [...request.headers, ...conditions] }, sending)
  if ('cause' in answer) return answer
  if (answer.status === OK) {
    store(key, answer, request, shared)
    return answer
  }
  if (answer.status !== NOT_MODIFIED) return undefined
  const renewed = { ...response, headers: { ...response.headers, ...answer.headers } }
  keep(key, renewed, answer, request, shared)
  return renewed
}

function store(key: string, response: ReceivedResponse, request: PolicyRequest, shared: Shared): void {
  const isForced = request.caching.forcedSeconds !== undefined
  if (!isCacheable(response.status) || (!isForced && !mayBeStored(response.headers))) return
  keep(key, response, response, request, shared)
}

function keep(
  key: string,
  response: ReceivedResponse,
  { headers }: ReceivedResponse,
  { caching }: PolicyRequest,
  { cache, nowMs, passed }: Shared,
): void {
  const until =
    caching.forcedSeconds === undefined
      ? freshUntilMs(headers, nowMs)
      : nowMs + caching.forcedSeconds * MS_PER_SECOND
  if (until === undefined) return
  cache.set(key, { response, freshUntilMs: until, freshUntilPassedMs: passed() + until - nowMs })
}

function isFresh({ freshUntilMs, freshUntilPassedMs }: CachedResponse, { nowMs, passed }: Shared): boolean {
  return nowMs < freshUntilMs && passed() < freshUntilPassedMs
}

const MAX_SECONDS = 2_147_483_647
/** Cacheable statuses of RFC 9110, section 15.1, without those that OPA never caches. */
const CACHEABLE: ReadonlySet<number> = new Set([200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501])

type Headers = ReceivedResponse['headers']

/** True if a response with this status may be cached. */
function isCacheable(status: number): boolean {
  return CACHEABLE.has(status)
}

/** True if the response headers allow caching. */
export function mayBeStored(headers: Headers): boolean {
  return !directivesOf(headers).has('no-store')
}

/**
 * Returns when a response that arrived at `nowMs` becomes stale, in milliseconds since the epoch:
 * `max-age` after its `Date`, else `Expires`; 0 without both, undefined if unreadable. Limits the
 * time to that of a response dated now.
 */
export function freshUntilMs(headers: Headers, nowMs: number): number | undefined {
  const maxAge = directivesOf(headers).get('max-age')
  const date = readDate(headers, 'date')
  const aheadMs = Math.max(0, (date ?? nowMs) - nowMs)
  if (maxAge === undefined) return Math.max(0, (readDate(headers, 'expires') ?? 0) - aheadMs)
  if (!/^\d+$/.test(maxAge) || date === undefined) return undefined
  return date - aheadMs + Math.min(Number(maxAge), MAX_SECONDS) * MS_PER_SECOND
}

/** Returns the headers that revalidate a stale response; undefined if it has no validator. */
export function conditionsOf(headers: Headers): readonly (readonly [string, string])[] | undefined {
  const conditions = [
    ['if-none-match', headers['etag']?.[0] ?? ''],
    ['if-modified-since', headers['last-modified']?.[0] ?? ''],
  ] as const
  const given = conditions.filter(([, value]) => value !== '')
  return given.length === 0 ? undefined : given
}

function directivesOf(headers: Headers): ReadonlyMap<string, string> {
  const parts = (headers['cache-control']?.[0] ?? '').split(',').map((part) => part.trim().split('='))
  return new Map(
    parts.flatMap(([name = '', value = '', ...more]) =>
      name === '' || more.length > 0 ? [] : [[name.trim(), value]],
    ),
  )
}

function readDate(headers: Headers, name: string): number | undefined {
  const ms = parseHttpDate(headers[name]?.[0] ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
