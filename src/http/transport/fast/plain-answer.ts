import { STATUS_CODES } from 'node:http'

const MS_PER_SECOND = 1000

let dateSecond = -1
let dateText = ''

/** What an answer is made of beside its body. */
export interface PlainAnswer {
  readonly status: number
  readonly body: string | Buffer
  readonly contentType: string
  readonly requestId: string
  /** Names and values in turn. */
  readonly extraHeaders: readonly string[]
}

/** The head of an answer with the same headers, in the same order, as node's own server writes. */
export function plainAnswerHead(answer: PlainAnswer, bodyLength: number, keepAliveMs: number): string {
  const { status, contentType, requestId, extraHeaders } = answer
  let extra = ''
  for (let i = 0; i < extraHeaders.length; i += 2) {
    extra += `${extraHeaders[i] ?? ''}: ${extraHeaders[i + 1] ?? ''}\r\n`
  }
  const connection =
    keepAliveMs > 0
      ? `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / MS_PER_SECOND)}`
      : 'Connection: close'
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: ${contentType}\r\n` +
    `Content-Length: ${bodyLength}\r\nX-Request-Id: ${requestId}\r\n${extra}Date: ${date()}\r\n${connection}\r\n\r\n`
  )
}

/** The time of day for the Date header, written again once a second. */
function date(): string {
  const now = Date.now()
  const second = Math.floor(now / MS_PER_SECOND)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(now).toUTCString()
  }
  return dateText
}
