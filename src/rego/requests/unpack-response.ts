import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { hasErrorCode } from '../../errors/app-error.js'
import type { PolicyRequest } from '../builtins/http/http-request.js'
import type { ReceivedResponse } from './received-response.js'
import { requestRefused } from './request-error.js'

const OF_ENCODING = /^(?:accept-encoding|range)$/i
/** Of the packed body, which the policy does not see. */
const OF_PACKED: readonly string[] = ['content-encoding', 'content-length']

/**
 * True if Go's client requests gzip itself (`net/http`, `Transport`): the policy requests no
 * encoding and no range.
 */
export function asksForGzip({ method, headers }: Pick<PolicyRequest, 'method' | 'headers'>): boolean {
  return method !== 'HEAD' && !headers.some(([name]) => OF_ENCODING.test(name))
}

/**
 * Returns a response without the gzip encoding that Go's client requested; undefined if it is
 * damaged. Raises `evaluation_failed` if it is larger than `maxBytes`.
 */
export async function unpackResponse(
  response: ReceivedResponse,
  maxBytes: number,
): Promise<ReceivedResponse | undefined> {
  const [encoding] = response.headers['content-encoding'] ?? []
  if (encoding?.toLowerCase() !== 'gzip' || response.body.length === 0) return response
  const headers = Object.entries(response.headers).filter(([name]) => !OF_PACKED.includes(name))
  try {
    const body = await promisify(gunzip)(response.body, { maxOutputLength: maxBytes })
    return { ...response, headers: Object.fromEntries(headers), body }
  } catch (cause) {
    if (!hasErrorCode(cause, 'ERR_BUFFER_TOO_LARGE')) return undefined
    throw requestRefused(
      `http.send: the answer unpacks to more than ${maxBytes} bytes. Ask for less, or raise policies.requests.maxResponseBytes.`,
      cause,
    )
  }
}
