const MS_PER_SECOND = 1000
/** The same object for each zone: making one takes as long as a hundred questions. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Seconds east of Greenwich that a zone of ICU keeps at an instant (Unix seconds); undefined for a name that ICU does not know. */
export function zoneOffset(name: string): ((unixSeconds: number) => number) | undefined {
  let format = formats.get(name)
  try {
    format ??= wallClock(name)
  } catch {
    return undefined
  }
  formats.set(name, format)
  const known = format
  return (unixSeconds) => Math.round(wallSeconds(known, unixSeconds) - unixSeconds)
}

function wallClock(timeZone: string): Intl.DateTimeFormat {
  const digits = {
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  return new Intl.DateTimeFormat('en-US', {
    ...digits,
    year: 'numeric',
    era: 'short',
    hourCycle: 'h23',
    timeZone,
  })
}

/** What the clocks of a zone show, as if it were UTC. */
function wallSeconds(format: Intl.DateTimeFormat, unixSeconds: number): number {
  const parts = new Map(
    format.formatToParts(unixSeconds * MS_PER_SECOND).map(({ type, value }) => [type, value] as const),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
  const date = new Date(0)
  date.setUTCFullYear(year, part('month') - 1, part('day'))
  date.setUTCHours(part('hour'), part('minute'), part('second'))
  return date.getTime() / MS_PER_SECOND
}
