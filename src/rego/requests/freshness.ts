import { parseHttpDate } from '../../lib/text/http-date.js'
import type { ReceivedResponse } from './received-response.js'

const MS_PER_SECOND = 1000
const MOST_SECONDS = 2_147_483_647
/** RFC 9110, 15.1, less those that OPA never keeps. */
const CACHEABLE: ReadonlySet<number> = new Set([200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501])

type Headers = ReceivedResponse['headers']

/** True if a response with this status may be cached. */
export function isCacheable(status: number): boolean {
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
  return date - aheadMs + Math.min(Number(maxAge), MOST_SECONDS) * MS_PER_SECOND
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
