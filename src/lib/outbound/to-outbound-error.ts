import { toError } from '../../errors/app-error.js'
import { OutboundError } from './outbound-error.js'
import { BodyTooLarge } from './read-body.js'
import { tlsProblem } from './tls-problem.js'

interface FailedRequest {
  readonly url: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** Why a request is aborted when its time is over. */
export class RequestTimedOut extends Error {}

/** What undici calls a request that could never be sent, such as one with a line break in a header. */
const UNSENDABLE = 'UND_ERR_INVALID_ARG'
const HEADERS_TOO_LARGE = 'UND_ERR_HEADERS_OVERFLOW'
const CLIENT_ENDED: readonly unknown[] = ['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']
const CONNECT_TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT'

/** Whatever a request ended with, as an error that says where to and why. */
export function toOutboundError(
  raw: unknown,
  { url, timeoutMs, maxResponseBytes }: FailedRequest,
): OutboundError {
  if (raw instanceof OutboundError) return raw
  const error = toError(raw)
  const code = codeOf(error)
  const { origin, protocol } = new URL(url)
  if (error instanceof BodyTooLarge || code === HEADERS_TOO_LARGE) {
    return new OutboundError('too_large', `${origin} answered with more than ${maxResponseBytes} bytes`)
  }
  if (error instanceof RequestTimedOut) {
    return new OutboundError('timed_out', `${origin} did not answer in full within ${timeoutMs} ms`)
  }
  if (error.name === 'AbortError' || CLIENT_ENDED.includes(code)) {
    return new OutboundError('aborted', `the request to ${origin} was given up`)
  }
  if (code === UNSENDABLE) {
    return new OutboundError(
      'target_refused',
      `the request to ${origin} cannot be sent: ${error.message}`,
      raw,
    )
  }
  if (code === CONNECT_TIMED_OUT) {
    return new OutboundError('timed_out', `${origin} did not take the connection in time`, raw)
  }
  const what =
    tlsProblem(error, code, protocol === 'http:') ??
    (error.message === '' ? (code ?? 'no connection') : error.message)
  return new OutboundError('not_connected', `${origin} could not be reached: ${what}`, raw)
}

/** The code of an error; of the first where several connections were tried. */
function codeOf(error: Error): string | undefined {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
