import { isRecord } from '../../../lib/validation/record.js'

/** The value of a field such as `log.message`, which may be one member of that name or members inside each other. */
export function fieldValue(document: unknown, field: string): unknown {
  if (!isRecord(document)) return undefined
  if (Object.hasOwn(document, field)) return document[field]
  const dots = [...field.matchAll(/\./g)].map(({ index }) => index)
  for (const dot of dots) {
    const outer = field.slice(0, dot)
    const inner = Object.hasOwn(document, outer)
      ? fieldValue(document[outer], field.slice(dot + 1))
      : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The text of a field's value; undefined where it has none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value) || value.length === 0) return undefined
  const texts = value.map(textOf)
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i
const INFINITE = /^(?<sign>[-+]?)inf(?:inity)?$/i
const NO_VALUE = /^(?:nan|null|na|n\/a)?$/i

/** A number as sources write it, "NaN", "+Inf" and an empty text (NaN) included; undefined for anything else. */
export function readNumber(raw: unknown): number | undefined {
  if (typeof raw === 'number') return raw
  if (raw === null) return Number.NaN
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (NUMBER.test(text)) return Number(text)
  const infinite = INFINITE.exec(text)
  if (infinite !== null) return infinite.groups?.['sign'] === '-' ? -Infinity : Infinity
  return NO_VALUE.test(text) ? Number.NaN : undefined
}
