import { seededNormal } from '../../src/analysis/judge/series/seeded-random.js'
import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogLine } from '../../src/analysis/sources.js'
import { describeLine } from '../../src/analysis/logs/records/describe-record.js'
import { inputOf, MINUTE_MS, MINUTES, timesOf } from './hour.js'
import type { LogRow, Random } from './hour.js'

const TEMPLATE = readLogTemplate({ templateName: 'access' })
const PER_MINUTE = 10

/** What the requests of a side are like. */
interface Traffic {
  readonly perMinute?: number
  /** Times as many requests are refused, of all or of those since so large a share of the hour. */
  readonly refused?: number
  readonly slower?: number
  readonly since?: number
  /** How often each route is asked. */
  readonly mix?: readonly number[]
  /** How much the minutes of one side differ, as the spread of a logarithm. */
  readonly uneven?: number
  /** A stranger asks so often an hour for many pages that are not there. */
  readonly scans?: number
}

/** Routes with the share of requests that is refused, and what they take in milliseconds. */
const HOME = { method: 'GET', path: '/', refused: 0.001, ms: 3 }
const ROUTES = [
  HOME,
  { method: 'GET', path: '/orders/<id>', refused: 0.01, ms: 25 },
  { method: 'POST', path: '/api/v1/orders', refused: 0.02, ms: 120 },
  { method: 'POST', path: '/login', refused: 0.15, ms: 90 },
  { method: 'GET', path: '/reports/<id>/pdf', refused: 0.005, ms: 900 },
]
const USUAL = [40, 30, 12, 3, 1]
const OTHER = [20, 10, 12, 15, 5]
const SPREAD = 0.8

interface Request {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
}

type Write = (request: Request) => string

const FORMATS: Readonly<Record<string, Write>> = {
  nginx: ({ method, path, status, ms }) =>
    `10.0.0.7 - - [21/Nov/2026:06:00:14 +0000] "${method} ${path} HTTP/1.1" ${status} 612 "-" "curl/8.5" ${(ms / 1000).toFixed(3)}`,
  Envoy: ({ method, path, status, ms }) =>
    `[2026-11-21T06:00:14.000Z] "${method} ${path} HTTP/2" ${status} - 0 612 ${Math.round(ms)} ${Math.round(ms)} "-" "curl/8.5" "4f5a" "shop" "10.0.0.9:80"`,
  JSON: ({ method, path, status, ms }) =>
    JSON.stringify({ level: 'info', msg: 'request', method, path, status_code: status, duration_ms: ms }),
}

const side = (write: Write, traffic: Traffic, random: Random): LogLine[] => {
  const normal = seededNormal(random)
  const [more, slower] = [traffic.refused ?? 1, traffic.slower ?? 1]
  const minutes = Array.from({ length: MINUTES }, () => Math.exp((traffic.uneven ?? 0) * normal()))
  const lines = timesOf(traffic.perMinute ?? PER_MINUTE, random).map((atMs) => {
    const { method, path, refused, ms } = ROUTES[choose(traffic.mix ?? USUAL, random)] ?? HOME
    const isSince = atMs >= (traffic.since ?? 0) * MINUTES * MINUTE_MS
    const isRefused = random() < refused * (isSince ? more : 1)
    const took =
      ms * Math.exp(SPREAD * normal()) * (isSince ? slower : 1) * (minutes[Math.floor(atMs / MINUTE_MS)] ?? 1)
    const request = {
      method,
      path: path.replace('<id>', String(Math.floor(random() * 1e5))),
      status: isRefused ? 404 : 200,
      ms: took,
    }
    return { atMs, text: describeLine(write(request)) }
  })
  const scans = timesOf((traffic.scans ?? 0) / MINUTES, random).flatMap((atMs) =>
    Array.from({ length: 80 }, (_, n) => ({
      atMs,
      text: describeLine(
        write({ method: 'GET', path: `/wp-${'abcdefgh'[n % 8]}/${n}.php`, status: 404, ms: 1 }),
      ),
    })),
  )
  return [...lines, ...scans]
}

function choose(weights: readonly number[], random: Random): number {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0)
  return Math.max(
    0,
    weights.findIndex((weight) => (left -= weight) < 0),
  )
}

const row = (
  name: string,
  limits: Pick<LogRow, 'verdict' | 'limit' | 'orWorse'>,
  format: string,
  baseline: Traffic,
  canary: Traffic,
): LogRow => ({
  name: `access log (${format}), ${name}`,
  ...limits,
  template: TEMPLATE,
  make: (random) => {
    const write = FORMATS[format] ?? String
    return inputOf(side(write, baseline, random), side(write, canary, random))
  },
})

const FOUND = { verdict: 'Success', limit: 5 } as const
const ALIKE = { verdict: 'Review', orWorse: true, limit: 2 } as const

/** Access logs that got worse in what is no error, and such that did not. */
export const ACCESS_ROWS: readonly LogRow[] = [
  ...Object.keys(FORMATS).flatMap((format) => [
    row('404 ten times as often', FOUND, format, {}, { refused: 10 }),
    row('times five times as long', FOUND, format, {}, { slower: 5 }),
    row('nothing changed', ALIKE, format, {}, {}),
  ]),
  row(
    '404 ten times as often since the middle, 30 requests a minute',
    FOUND,
    'nginx',
    { perMinute: 30 },
    { perMinute: 30, refused: 10, since: 0.5 },
  ),
  row('times five times as long in the last third', FOUND, 'nginx', {}, { slower: 5, since: 0.66 }),
  row('404 ten times as often, a tenth of the traffic', FOUND, 'nginx', { perMinute: 100 }, { refused: 10 }),
  row('nothing changed, a tenth of the traffic', ALIKE, 'nginx', { perMinute: 100 }, {}),
  row('nothing changed, ten times the traffic', ALIKE, 'nginx', {}, { perMinute: 100 }),
  row(
    'nothing changed, 404 in bursts of a dependency',
    ALIKE,
    'nginx',
    { uneven: 0.3, scans: 6 },
    { uneven: 0.3, scans: 6 },
  ),
  row('another mix of requests', ALIKE, 'nginx', {}, { mix: OTHER }),
  row('another mix of requests the other way', ALIKE, 'nginx', { mix: OTHER, perMinute: 50 }, {}),
  row('slow and fast minutes', ALIKE, 'nginx', { uneven: 0.7 }, { uneven: 0.7 }),
  row('a scanner on each side', ALIKE, 'nginx', { scans: 2 }, { scans: 2 }),
]
