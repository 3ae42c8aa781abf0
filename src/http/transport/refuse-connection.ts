import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { JSON_TYPE } from '../exchange/exchange.js'

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const NOT_HTTP: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'what was sent is not an HTTP request',
}
/** By the code of node's error, or our own. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    message: 'the headers of the request are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    message: 'the request did not arrive in time',
  },
}

/** Answers what node could not read as a request, in the one shape of errors, and ends the connection. */
export function refuseConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, code, message } = REFUSALS[error.code ?? ''] ?? NOT_HTTP
  const body = `${JSON.stringify({ code, message }, null, 2)}\n`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
