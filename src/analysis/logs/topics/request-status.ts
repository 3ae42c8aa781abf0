const METHOD = '(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)'

/** How servers write a request with the class of its status. */
const REQUESTS: readonly RegExp[] = [
  // Common log format, Envoy: `"GET /x HTTP/1.1" 502 `
  new RegExp(`"[A-Z]{3,7} \\S+(?: HTTP/[\\d.]+)?" ([1-5])\\d\\d\\b`),
  // Load balancers: `502 - 34 366 "GET https://…`; HAProxy: `0/0/1/2/3 503 212 - - …`
  new RegExp(` ([1-5])\\d\\d (?:\\d{3}|-) \\d+ \\d+ "${METHOD} `),
  new RegExp(`(?:/-?\\+?\\d+){3} ([1-5])\\d\\d \\d+ .*"${METHOD} `),
  // W3C: `GET /x - 443 - 10.0.0.9 Mozilla/5.0 - 500 0 0 15`
  new RegExp(`\\b${METHOD} /\\S* \\S+ \\d+ \\S+ [\\d.:a-f]+ \\S+(?: \\S+)? ([1-5])\\d\\d \\d+ \\d+ \\d+`),
  // For people: `GET /x 500 12.1 ms`
  new RegExp(`\\b${METHOD} /\\S* (?:HTTP/[\\d.]+ )?([1-5])\\d\\d\\b`),
]
const LOOKS_LIKE_ONE = new RegExp(`\\b${METHOD} |HTTP/\\d`)
/** A field that says so; one with another status may stand in a line that complains. */
const FAILED = /\b(?:http_?)?(?:status|status_?code|response_?code)"?[=:]\s?"?5\d\d\b/i

const SERVER_ERROR = /[=:]\s?"?5\d\d/

/** Whether a line is that of a request whose status is 500 or more; undefined where it does not tell. */
export function requestFailed(text: string): boolean | undefined {
  // Most lines have no such number, and are spared the longer search.
  if (SERVER_ERROR.test(text) && FAILED.test(text)) return true
  if (!LOOKS_LIKE_ONE.test(text)) return undefined
  for (const request of REQUESTS) {
    const status = request.exec(text)?.[1]
    if (status !== undefined) return status === '5'
  }
  return undefined
}
