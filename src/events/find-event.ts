import { isRecord } from '../lib/validation/record.js'
import { embeddedValue } from './carried-values.js'

type JsonObject = Record<string, unknown>

const MAX_WRAPPINGS = 8
/** Enough for any wrapper, and a bound on the search through a body that holds no event. */
const MAX_CANDIDATES = 256

/**
 * The event in a body: the body itself, or what a wrapper or template put around it (rest endpoints with `wrap`, under any
 * names). The body itself where nothing below it is an event.
 */
export function findEvent(root: JsonObject): JsonObject {
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

/** The nearest object below that is wanted, one level after the other. */
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
