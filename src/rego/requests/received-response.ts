import { STATUS_CODES } from 'node:http'

import { RegoNumber, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/** Headers that Go's client removes. */
const HIDDEN: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer'])

/** A response with header names in lower case. */
export interface ReceivedResponse {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Buffer
}

/**
 * A recorded response: OPA's response object without the parsed body, which the evaluation parses.
 */
export function toValue({ status, reason, headers, body }: ReceivedResponse): RegoValue {
  return RegoObject.fromRecord({
    status: `${status} ${reason || (STATUS_CODES[status] ?? '')}`,
    status_code: RegoNumber.of(status),
    headers: new RegoObject(
      Object.entries(headers).flatMap(([name, values]) =>
        HIDDEN.has(name) ? [] : [[name, [...values]] as const],
      ),
    ),
    raw_body: body.toString(),
  })
}
