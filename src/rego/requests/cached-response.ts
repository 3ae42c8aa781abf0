import type { PolicyRequest } from '../builtins/http/http-request.js'
import type { CallFailure } from '../builtins/shared/recorded-calls.js'
import { conditionsOf, freshUntilMs, isCacheable, mayBeStored } from './freshness.js'
import type { ReceivedResponse } from './received-response.js'
import type { CacheOutcome } from './request-figures.js'
import type { CachedResponse, ResponseCache } from './response-cache.js'
import { sendRequest } from './send-request.js'
import type { Sending } from './send-request.js'

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
