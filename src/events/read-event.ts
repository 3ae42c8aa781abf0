import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { toUtf8 } from '../lib/json/scan/decode-string.js'
import { refuseMalformed } from '../lib/json/scan/locate-value.js'
import { missingFields } from '../lib/validation/problem-collector.js'
import { isRecord } from '../lib/validation/record.js'
import { embeddedValue, refuseUnbounded, epochMs, scalarText } from './carried-values.js'
import type { EventEndpoint, OrchestratorEvent, EventStage } from './orchestrator-event.js'

type JsonObject = Record<string, unknown>

/** Highest length of an id. The orchestrator's are UUIDs. */
const MAX_ID_LENGTH = 256

/**
 * Reads the event in a request's body: the contract's `{eventId, name}` or `{content, details}`, or
 * the orchestrator's event, also wrapped, templated or flattened. `receivedAt` is in epoch
 * milliseconds. Raises `invalid` for a body that is no JSON object, lacks required fields (all are
 * named) or is nested too deeply.
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

/** V8's messages quote the body, which may contain secrets. Ours name a single character. */
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

/** Contract 4.4. The orchestrator itself never sends `name`: the kind is in `details.type`. */
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

/** Names a field, with its requirement if it is present but unusable. */
function fieldName(event: JsonObject, name: string): string {
  return (event[name] ?? undefined) === undefined ? name : `${name} (a text that is not empty)`
}

function refuseLongId(eventId: string | undefined): void {
  if (eventId === undefined || eventId.length <= MAX_ID_LENGTH) return
  throw new AppError('invalid', `eventId is longer than ${MAX_ID_LENGTH} characters`)
}

type EventColumns = Pick<
  OrchestratorEvent,
  'application' | 'pipeline' | 'pipelineConfigId' | 'executionId' | 'stage' | 'user' | 'status'
>

const NOTHING: JsonObject = {}
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Status of a stage by the last word of the event's kind, for events without the execution
 * (echo.events.includeFullExecution=false).
 */
const STATUS_OF_ENDING: ReadonlyMap<string, string> = new Map([
  ['starting', 'RUNNING'],
  ['complete', 'SUCCEEDED'],
  ['failed', 'TERMINAL'],
  ['skipped', 'SKIPPED'],
])

/**
 * Reads the searchable columns from content and details (orca-echo's execution and stage
 * listeners).
 */
function eventColumns(kind: string | undefined, content: unknown, details: unknown): EventColumns {
  const body = asRecord(content)
  const execution = asRecord(body['execution'])
  const stage = readStage(kind, body, execution)
  // A manual start names the pipeline by name or id (Echo's ManualEvent).
  const started = scalarText(body['pipelineNameOrId'])
  const isId = UUID.test(started ?? '')
  return {
    application:
      scalarText(asRecord(details)['application']) ??
      scalarText(execution['application']) ??
      scalarText(body['application']),
    pipeline:
      execution['type'] === 'ORCHESTRATION'
        ? undefined
        : (scalarText(execution['name']) ?? (isId ? undefined : started)),
    pipelineConfigId: scalarText(execution['pipelineConfigId']) ?? (isId ? started : undefined),
    executionId: scalarText(body['executionId']) ?? scalarText(execution['id']),
    stage: stage?.columns,
    user: readUser(body, execution),
    status: stage === undefined ? scalarText(execution['status']) : stage.status,
  }
}

function readUser(body: JsonObject, execution: JsonObject): string | undefined {
  return (
    scalarText(asRecord(execution['authentication'])['user']) ??
    scalarText(asRecord(execution['trigger'])['user']) ??
    scalarText(asRecord(body['trigger'])['user']) ??
    scalarText(asRecord(body['context'])['user']) ??
    scalarText(body['user'])
  )
}

function readStage(
  kind: string | undefined,
  body: JsonObject,
  execution: JsonObject,
): { columns: EventStage; status: string | undefined } | undefined {
  const stageId = scalarText(body['stageId'])
  if (stageId === undefined) return undefined
  const stages = Array.isArray(execution['stages']) ? (execution['stages'] as unknown[]) : []
  const stage = asRecord(stages.find((candidate) => asRecord(candidate)['id'] === stageId))
  const columns = {
    stageId,
    refId: scalarText(stage['refId']),
    name: scalarText(stage['name']) ?? scalarText(body['name']),
    type: scalarText(stage['type']),
  }
  return {
    columns,
    status: scalarText(stage['status']) ?? STATUS_OF_ENDING.get(kind?.split(':').at(-1) ?? ''),
  }
}

function asRecord(value: unknown): JsonObject {
  return isRecord(value) ? value : NOTHING
}

const MAX_WRAPPINGS = 8
/** Enough for any wrapper. Bounds the search in a body without an event. */
const MAX_CANDIDATES = 256

/**
 * Returns the event in a body: the body itself, or an object inside a wrapper or template (rest
 * endpoints with `wrap`, under any name). Returns the body if it contains no event.
 */
function findEvent(root: JsonObject): JsonObject {
  if (isNamedEvent(root)) return root
  return (
    findBelow(root, isFullEvent) ??
    (isAuditData(root) ? root : (findBelow(root, isNamedEvent) ?? findBelow(root, isAuditData) ?? root))
  )
}

function isNamedEvent(value: JsonObject): boolean {
  return isText(value['eventId']) && ('name' in value || 'details' in value || 'content' in value)
}

function isFullEvent(value: JsonObject): boolean {
  const details = isText(value['eventId']) ? embeddedValue(value['details']) : undefined
  return isRecord(details) && isText(details['type'])
}

function isAuditData(value: JsonObject): boolean {
  return 'content' in value && 'details' in value
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Searches objects below `root` breadth first. */
function findBelow(root: JsonObject, isWanted: (value: JsonObject) => boolean): JsonObject | undefined {
  let level: unknown[] = [root]
  for (let depth = 0; depth < MAX_WRAPPINGS && level.length > 0; depth++) {
    level = level.flatMap(childrenOf).slice(0, MAX_CANDIDATES)
    const found = level.filter(isRecord).find(isWanted)
    if (found !== undefined) return found
  }
  return undefined
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value)
    .slice(0, MAX_CANDIDATES)
    .map(embeddedValue)
    .filter((child) => typeof child === 'object' && child !== null)
}
