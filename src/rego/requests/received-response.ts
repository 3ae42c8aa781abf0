import { STATUS_CODES } from 'node:http'

import { RegoNumber, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/** What Go's client takes for a part of the transport. */
const HIDDEN: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer'])

/** A response as it came. Names of headers are in lower case. */
export interface ReceivedResponse {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Buffer
}

/** What is recorded of a response: all that OPA gives but its body as a value, which the evaluation reads. */
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
