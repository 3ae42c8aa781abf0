import { randomUUID } from 'node:crypto'

/** Hexadecimal digits of the time, and how many of them are before the first hyphen. */
const [TIME_DIGITS, FIRST_DIGITS] = [12, 8]
/** Position of the version in the text of a UUID. */
const VERSION_AT = 14

/**
 * Returns a UUID of version 7 (RFC 9562, 5.7) for a time in milliseconds since the epoch. Ids that
 * follow time keep a database index compact.
 *
 * Its random part is that of a UUID of version 4, which has the same layout after the version and
 * which Node.js makes from random bytes that it reads in advance.
 */
export function timeOrderedId(nowMs: number): string {
  const time = Math.floor(nowMs).toString(16).padStart(TIME_DIGITS, '0')
  return `${time.slice(0, FIRST_DIGITS)}-${time.slice(FIRST_DIGITS)}-7${randomUUID().slice(VERSION_AT + 1)}`
}
