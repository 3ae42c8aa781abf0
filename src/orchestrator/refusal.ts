import { parseJson } from '../lib/json/text/parse-json.js'
import { AppError } from '../errors/app-error.js'
import type { ErrorKind } from '../errors/app-error.js'
import type { OutboundResponse } from '../lib/outbound/outbound-client.js'
import { isRecord } from '../lib/validation/record.js'

const MAX_TEXT_LENGTH = 500

const KINDS: ReadonlyMap<number, ErrorKind> = new Map([
  [400, 'invalid'],
  [404, 'not_found'],
  [409, 'conflict'],
  [422, 'invalid'],
])

/** Whether a response reports success. */
export function isSuccess({ status }: OutboundResponse): boolean {
  return status >= 200 && status < 300
}

/**
 * Returns the orchestrator's reason for a refusal: `errors` and `message` of its error object
 * (Spring's, with `errors` added by the storage service), else its status. Cut to a readable
 * length.
 */
export function refusalText(response: OutboundResponse): string {
  const body = parseJson(response.body.toString())
  const error = isRecord(body) ? body : {}
  const texts = [...textsIn(error['errors']), ...textsIn(error['message']), ...textsIn(error['error'])]
  const said = [...new Set(texts)].join('; ')
  const text = said === '' ? `status ${response.status}` : `status ${response.status}: ${said}`
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text
}

/** Makes the error for a refused request. `doing` is a phrase such as "update pipeline x". */
export function refused(doing: string, response: OutboundResponse): AppError {
  const kind = KINDS.get(response.status) ?? 'unavailable'
  return new AppError(kind, `${doing}: the orchestrator answered ${refusalText(response)}`, {
    code: 'orchestrator_refused',
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  return Array.isArray(value) ? value.flatMap((one: unknown) => (typeof one === 'string' ? [one] : [])) : []
}
