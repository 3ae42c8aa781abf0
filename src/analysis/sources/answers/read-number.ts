const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i
const INFINITE = /^(?<sign>[-+]?)inf(?:inity)?$/i
const NO_VALUE = /^(?:nan|null|na|n\/a)?$/i

/**
 * A number as sources write it, including "NaN", "+Inf" and an empty string (NaN). Undefined for
 * anything else.
 */
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
