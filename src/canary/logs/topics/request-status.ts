/** The methods of requests. */
export const METHOD = '(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)'

/** How servers write a request with its status. */
const REQUESTS: readonly RegExp[] = [
  // Common log format, Envoy: `"GET /x HTTP/1.1" 502 `
  new RegExp(`"[A-Z]{3,7} \\S+(?: HTTP/[\\d.]+)?" ([1-5]\\d\\d)\\b`),
  // Load balancers: `502 - 34 366 "GET https://…`; HAProxy: `0/0/1/2/3 503 212 - - …`
  new RegExp(` ([1-5]\\d\\d) (?:\\d{3}|-) \\d+ \\d+ "${METHOD} `),
  new RegExp(`(?:/-?\\+?\\d+){3} ([1-5]\\d\\d) \\d+ .*"${METHOD} `),
  // W3C: `GET /x - 443 - 10.0.0.9 Mozilla/5.0 - 500 0 0 15`
  new RegExp(`\\b${METHOD} /\\S* \\S+ \\d+ \\S+ [\\d.:a-f]+ \\S+(?: \\S+)? ([1-5]\\d\\d) \\d+ \\d+ \\d+`),
  // For people: `GET /x 500 12.1 ms`, with `-`, `=>` or `responded` in between, and Gin: `| 500 |
  // 12.1ms | 10.0.0.9 | GET "/x"`
  new RegExp(
    `\\b${METHOD} (?:https?:/)?/\\S* (?:HTTP/[\\d.]+ )?(?:(?:-|=>|->|responded|returned|answered) )?([1-5]\\d\\d)\\b`,
  ),
  new RegExp(`\\| ([1-5]\\d\\d) \\| +[\\d.]+[a-zµ]+ \\|.*\\b${METHOD} `),
  // Rails and Phoenix: `Completed 500 Internal Server Error in 12ms`, `Sent 500 in 12ms`
  /\b(?:Completed|Sent) ([1-5]\d\d) /,
]
const LOOKS_LIKE_ONE = new RegExp(`\\b${METHOD} |HTTP/\\d|\\b(?:Completed|Sent) [1-5]`)
/** A field with a status. In a complaint it may be another server's status. */
const FIELD = /\b(?:http_?)?(?:status|status_?code|response_?code)"?[=:]\s?"?([1-5]\d\d)\b/i
/** Together with a status it marks a line as a request. */
const TIMED = /\b(?:duration|latency|elapsed|took|(?:request|response)_?time)\w*"?[=:]/i
const LOOKS_LIKE_FIELD = /[=:]\s?"?[1-5]\d\d/

/** Whether a line may be that of a request; most are spared the longer search. */
export function mayBeRequest(text: string): boolean {
  return LOOKS_LIKE_ONE.test(text)
}

/**
 * The status of a request in the formats of servers, for a line that `mayBeRequest`. Undefined if
 * it has none.
 */
export function requestStatus(text: string): number | undefined {
  for (const request of REQUESTS) {
    const status = request.exec(text)?.[1]
    if (status !== undefined) return Number(status)
  }
  return undefined
}

/** The status in a field of the line. Undefined if there is none. */
export function statusField(text: string): number | undefined {
  // Most lines have no such number, and are spared the longer search.
  const status = LOOKS_LIKE_FIELD.test(text) ? FIELD.exec(text)?.[1] : undefined
  return status === undefined ? undefined : Number(status)
}

const SERVER_ERROR = 500
/**
 * Statuses of gRPC that are server errors: https://grpc.github.io/grpc/core/md_doc_statuscodes.html
 */
const GRPC_FAILED =
  /\bgrpc[._](?:status|code|status_code)"?[=:]\s?"?(?:Unknown|DeadlineExceeded|Unimplemented|Internal|Unavailable|DataLoss|2|4|12|13|14|15)\b/i

/**
 * Whether a line is a request with a status of 500 or more. Undefined if the line has no status.
 */
export function requestFailed(text: string): boolean | undefined {
  const field = statusField(text)
  if (field !== undefined && field >= SERVER_ERROR) return true
  if (text.includes('grpc') && GRPC_FAILED.test(text)) return true
  if (mayBeRequest(text)) {
    const status = requestStatus(text) ?? field
    return status === undefined ? undefined : status >= SERVER_ERROR
  }
  return field !== undefined && TIMED.test(text) ? false : undefined
}
