import { formatISO } from 'date-fns/formatISO'

/**
 * Formats a time in the local time zone (TZ), to the second, as flags such as --since accept it:
 * `2026-11-22T10:31:02+01:00`. Returns malformed times unchanged.
 */
export function localTime(time: string | number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : formatISO(date)
}
