import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { hasErrorCode } from '../../errors/app-error.js'
import type { PolicyRequest } from '../builtins/http/http-request.js'
import type { ReceivedResponse } from './received-response.js'
import { requestRefused } from './request-error.js'

const OF_ENCODING = /^(?:accept-encoding|range)$/i
/** Of the packed body, which the policy does not see. */
const OF_PACKED: readonly string[] = ['content-encoding', 'content-length']

/** Whether Go's client asks for gzip by itself (`net/http`, `Transport`): where the policy asks for no encoding and no part of the body. */
export function asksForGzip({ method, headers }: Pick<PolicyRequest, 'method' | 'headers'>): boolean {
  return method !== 'HEAD' && !headers.some(([name]) => OF_ENCODING.test(name))
}

/**
 * A response without the packing that Go's client asked for, and takes off; any other response as it is, undefined for one that is damaged. Raises
 * `evaluation_failed` where it is larger than `maxBytes` then.
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
