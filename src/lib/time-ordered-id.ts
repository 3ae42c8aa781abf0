import { v7 } from 'uuid'

/**
 * Returns a UUID of version 7 (RFC 9562, 5.7) for a time in milliseconds since the epoch. Ids that
 * follow time keep a database index compact.
 */
export function timeOrderedId(nowMs: number): string {
  return v7({ msecs: nowMs })
}
