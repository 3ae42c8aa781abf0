/** The head of a request of a form that the fast transport takes. */
export interface PlainHead {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** By name in lower case; no name comes twice. */
  readonly headers: ReadonlyMap<string, string>
  /** The head itself, its empty line included, and how many bytes that are. */
  readonly bytes: Buffer
  readonly length: number
  /** Bytes of the body, as the head says. */
  readonly bodyLength: number
  /** Whether the caller wants the connection to end with the answer (RFC 9112, 9.6). */
  readonly isLast: boolean
}

const MAX_HEAD_BYTES = 8192
const LINE_END = '\r\n'
export const HEAD_END = '\r\n\r\n'
/** RFC 3986: unreserved, sub-delimiters, percent and the delimiters of a path and a query; no fragment, no other byte. */
const REQUEST_LINE = /^(?<method>GET|POST) (?<url>\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1$/
/** Stricter than RFC 9110 in all: no white space but the one space, no tab, nothing beyond ASCII, no empty value. */
const HEADER_LINE = /^(?<name>[A-Za-z0-9-]+): ?(?<value>[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/
const HOST = /^[A-Za-z0-9.:[\]-]+$/
const CONNECTION = /^(?:keep-alive|close)$/i
/** At most six digits, so that no reader can understand another number. */
const BODY_LENGTH = /^(?:0|[1-9]\d{0,5})$/
/** What frames messages or changes the connection is for the standard parser alone (RFC 9110, 7 and 10.1; RFC 9112, 6 and 9). */
const FOR_STANDARD_PARSER: readonly string[] = [
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * The head at the beginning of `bytes`, or undefined for everything that is not plainly of one of two forms: a complete POST of
 * HTTP/1.1 with one Host, one Content-Length, and headers that every reader of HTTP understands in the same way; or such a GET
 * without a body. It refuses rather than judges: what it does not take, the standard parser reads from the first byte. `end` is
 * where its empty line begins, -1 for nowhere.
 */
export function readPlainHead(bytes: Buffer, end = bytes.indexOf(HEAD_END)): PlainHead | undefined {
  if (end === -1 || end > MAX_HEAD_BYTES) return undefined
  const [requestLine = '', ...headerLines] = bytes.toString('latin1', 0, end).split(LINE_END)
  const { method: name, url } = REQUEST_LINE.exec(requestLine)?.groups ?? {}
  const method = name === 'GET' ? 'GET' : 'POST'
  const headers = readHeaders(headerLines)
  if (url === undefined || headers === undefined || !isPlainlyFramed(method, headers)) return undefined
  const bodyLength = Number(headers.get('content-length') ?? 0)
  const isLast = headers.get('connection')?.toLowerCase() === 'close'
  const head = Buffer.from(bytes.subarray(0, end + HEAD_END.length))
  return { method, url, headers, bytes: head, length: head.length, bodyLength, isLast }
}

/** Whether `bytes` begin with this head: equal bytes make an equal head, so that they need no second look. */
export function beginsWith(bytes: Buffer, head: PlainHead): boolean {
  return bytes.length >= head.length && head.bytes.compare(bytes, 0, head.length) === 0
}

function readHeaders(lines: readonly string[]): Map<string, string> | undefined {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const { name, value } = HEADER_LINE.exec(line)?.groups ?? {}
    const key = name?.toLowerCase()
    if (key === undefined || value === undefined || headers.has(key)) return undefined
    headers.set(key, value)
  }
  return headers
}

function isPlainlyFramed(method: PlainHead['method'], headers: ReadonlyMap<string, string>): boolean {
  const length = headers.get('content-length')
  return (
    HOST.test(headers.get('host') ?? '') &&
    (method === 'GET' ? length === undefined : BODY_LENGTH.test(length ?? '')) &&
    CONNECTION.test(headers.get('connection') ?? 'keep-alive') &&
    !FOR_STANDARD_PARSER.some((name) => headers.has(name))
  )
}
