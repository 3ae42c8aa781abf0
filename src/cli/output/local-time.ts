const MINUTES_PER_HOUR = 60
const MS_PER_MINUTE = 60_000

/** A time in the zone of whoever reads it (TZ), to the second, in a form that flags such as --since take: `2026-11-22T10:31:02+01:00`. */
export function localTime(time: string | number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return String(time)
  const offset = -date.getTimezoneOffset()
  const shifted = new Date(date.getTime() + offset * MS_PER_MINUTE)
  return `${shifted.toISOString().slice(0, 19)}${offsetText(offset)}`
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const [hours, rest] = [
    Math.floor(Math.abs(minutes) / MINUTES_PER_HOUR),
    Math.abs(minutes) % MINUTES_PER_HOUR,
  ]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}
