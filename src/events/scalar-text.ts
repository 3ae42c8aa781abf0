/** A member that senders write as text or as a number, as text; undefined for anything else and for an empty text. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const LATEST_MS = 8.64e15

/** A time in milliseconds since 1970, written as a number or as its digits; undefined for anything else and for 0. */
export function epochMs(value: unknown): number | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? digitsValue(value) : 0
  return ms > 0 && ms <= LATEST_MS ? Math.floor(ms) : undefined
}

function digitsValue(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : 0
}
