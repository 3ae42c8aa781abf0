import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { toUtf8 } from '../lib/json/scan/decode-string.js'
import { refuseMalformed } from '../lib/json/scan/locate-value.js'
import { missingFields } from '../lib/validation/problem-collector.js'
import { isRecord } from '../lib/validation/record.js'
import { embeddedValue, refuseUnbounded, epochMs, scalarText } from './carried-values.js'
import { eventColumns } from './event-columns.js'
import { findEvent } from './find-event.js'
import type { EventEndpoint, OrchestratorEvent } from './orchestrator-event.js'

type JsonObject = Record<string, unknown>

/** The longest id that is taken; the orchestrator's are UUIDs. */
const MAX_ID_LENGTH = 256

/**
 * The event in the body of a request: the contract's `{eventId, name}` or `{content, details}`, the orchestrator's own event, and
 * both wrapped, templated or flattened. `receivedAt` is now in milliseconds. Raises `invalid` for what is no JSON object, lacks
 * required fields (all are named) or is nested too deeply.
 */
export function readEvent(body: Uint8Array, endpoint: EventEndpoint, receivedAt: number): OrchestratorEvent {
  const bytes = asBuffer(toUtf8(body))
  const event = findEvent(parseObject(bytes))
  const details = embeddedValue(event['details'])
  const content = embeddedValue(event['content'])
  const head = isRecord(details) ? details : {}
  const eventId = scalarText(event['eventId'])
  const kind = scalarText(head['type']) ?? scalarText(event['name'])
  if (endpoint === 'echo') requireEchoFields(event, eventId, kind)
  else requireAuditFields(event)
  refuseLongId(eventId)
  return {
    eventId,
    kind,
    occurredAt: epochMs(head['created']) ?? receivedAt,
    ...eventColumns(kind, content, details),
    source: scalarText(head['source']),
    content,
    details,
    body: bytes,
  }
}

function parseObject(bytes: Buffer): JsonObject {
  const text = bytes.toString()
  refuseUnbounded(text)
  const root = embeddedValue(parse(text, bytes))
  if (isRecord(root)) return root
  throw new AppError('invalid', 'the body must be a JSON object: an event, or a wrapper around one')
}

/** The engine's own messages quote the body, which may hold secrets; ours name the one character. */
function parse(text: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new AppError('invalid', `the body is not valid JSON: ${whatIsMalformed(bytes)}`, {
      code: 'invalid_json',
      cause,
    })
  }
}

function whatIsMalformed(bytes: Buffer): string {
  if (bytes.length === 0) return 'it is empty'
  try {
    refuseMalformed(bytes)
  } catch (raw) {
    if (raw instanceof AppError) return raw.message
  }
  return 'it cannot be read'
}

/** Contract 4.4. `name` is what the orchestrator itself never sends: the kind is in `details.type`. */
function requireEchoFields(event: JsonObject, eventId: string | undefined, kind: string | undefined): void {
  const missing = [
    ...(eventId === undefined ? [fieldName(event, 'eventId')] : []),
    ...(kind === undefined ? [fieldName(event, 'name')] : []),
  ]
  if (missing.length > 0) throw missingFields(missing)
}

/** Contract 4.5. */
function requireAuditFields(event: JsonObject): void {
  const missing = ['content', 'details'].filter((name) => (event[name] ?? undefined) === undefined)
  if (missing.length > 0) throw missingFields(missing)
}

/** A field that is there, but of no use, is named with what it should be. */
function fieldName(event: JsonObject, name: string): string {
  return (event[name] ?? undefined) === undefined ? name : `${name} (a text that is not empty)`
}

function refuseLongId(eventId: string | undefined): void {
  if (eventId === undefined || eventId.length <= MAX_ID_LENGTH) return
  throw new AppError('invalid', `eventId is longer than ${MAX_ID_LENGTH} characters`)
}
