import { mayBeRequest, METHOD, requestStatus, statusField } from '../topics/request-status.js'

/** A request in an access log. */
export interface LoggedRequest {
  /** Method and start of the path, without identifiers. Empty if the line has none. */
  readonly route: string
  readonly status: number
  /** The logarithm of the duration, in the unit of the log. Undefined if the line has none. */
  readonly logDuration: number | undefined
}

const TARGET = new RegExp(`\\b(${METHOD}) +"?(?:https?://[^/\\s]*)?(/[^\\s?;"]*)`)
/** Method and path as fields: `method=GET path=/orders`. */
const METHOD_FIELD = new RegExp(`\\b(?:method|verb)"?[=:]\\s?"?(${METHOD})\\b`, 'i')
const PATH_FIELD = /\b(?:path|uri|url|route|target)"?[=:]\s?"?(?:https?:\/\/[^/\s"]*)?(\/[^\s?;"]*)/i
const MAX_SEGMENTS = 4
const LONGEST_WORD = 24

/** The places of durations in formats. The first match counts. */
const DURATIONS: readonly RegExp[] = [
  /(?:duration|latency|elapsed|took|service(?==\d+ms)|(?:request|response|resp)_?time|time_?taken|\brt|\btime_ms)[\w.]*"?[=: ]\s?"?(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m)?\b/i,
  // HAProxy: the total time is last. Load balancers: the time of the target is in the middle.
  // Envoy: after the bytes of both directions.
  /(?:-?\d+\/){3,4}\+?(\d+) [1-5]\d\d /,
  / -?\d+\.\d+ (\d+\.\d+) -?\d+\.\d+ [1-5]\d\d /,
  /" [1-5]\d\d (?:-|[A-Z]{2}[\w,]*)(?: \S+ \S+ "[^"]*")? \d+ \d+ (\d+)\b/,
  /(?:^|[\s(|])(\d+(?:\.\d+)?) ?(ns|us|µs|ms|s)(?=[\s,)|]|$)/,
  // At the end: seconds as nginx writes them, the microseconds of Apache, the milliseconds of W3C
  / (\d+\.\d{3,6})$/,
  /"(?: \d+\.\d{3,6})? (\d+)$/,
  / [1-5]\d\d \d+ \d+ (\d+)$/,
]
const MS: ReadonlyMap<string, number> = new Map(
  Object.entries({ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000 }),
)

/** The request of an access log line. Undefined if the line is not one. */
export function readRequest(text: string): LoggedRequest | undefined {
  const status = (mayBeRequest(text) ? requestStatus(text) : undefined) ?? statusField(text)
  if (status === undefined) return undefined
  const target = TARGET.exec(text)
  const [method, path] =
    target === null
      ? [METHOD_FIELD.exec(text)?.[1]?.toUpperCase(), PATH_FIELD.exec(text)?.[1]]
      : [target[1], target[2]]
  return { route: routeOf(method, path), status, logDuration: logDurationOf(text) }
}

function routeOf(method: string | undefined, path: string | undefined): string {
  if (method === undefined || path === undefined) return ''
  const segments = path.split('/').slice(1, MAX_SEGMENTS + 1)
  const named = segments.map((word) => (/\d/.test(word) || word.length > LONGEST_WORD ? '*' : word))
  return `${method} /${named.join('/')}`
}

function logDurationOf(text: string): number | undefined {
  for (const duration of DURATIONS) {
    const found = duration.exec(text)
    if (found === null) continue
    const [, digits = '', unit = ''] = found
    // A written 0 is less than the last digit can say.
    const least = 10 ** -(digits.split('.')[1]?.length ?? 0)
    return Math.log((Number(digits) + least) * (MS.get(unit) ?? 1))
  }
  return undefined
}
