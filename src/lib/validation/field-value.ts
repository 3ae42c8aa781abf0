import { isRecord } from './record.js'

/**
 * The value of a field such as `log.message`, which may be one member of that name or nested
 * members.
 */
export function fieldValue(document: unknown, field: string): unknown {
  if (!isRecord(document)) return undefined
  if (Object.hasOwn(document, field)) return document[field]
  for (let dot = field.indexOf('.'); dot >= 0; dot = field.indexOf('.', dot + 1)) {
    const outer = field.slice(0, dot)
    const inner = Object.hasOwn(document, outer)
      ? fieldValue(document[outer], field.slice(dot + 1))
      : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The text of a field's value. Undefined if it has none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value) || value.length === 0) return undefined
  const texts = value.map(textOf)
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined
}
