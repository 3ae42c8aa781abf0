import { BuiltinError } from '../shared/builtin.js'
import { abbreviationIn, hasAbbreviations } from './zone-abbreviations.js'

/** A time zone as in Go: an offset and a short name at each instant (Unix seconds). */
export interface Zone {
  offsetAt(unixSeconds: number): number
  /** `CEST`, or digits such as `-03` if the zone has no letters. */
  abbreviationAt(unixSeconds: number): string
}

export const UTC: Zone = { offsetAt: () => 0, abbreviationAt: () => 'UTC' }

/**
 * Returns the zone of an IANA name (case-sensitive), of `UTC` or the empty text, or the process's
 * own for `Local`. Throws BuiltinError with Go's message for any other name.
 */
export function findZone(name: string): Zone {
  if (name === '' || name === 'UTC') return UTC
  if (name === 'Local') return localZone()
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) {
    throw new BuiltinError('time: invalid location name')
  }
  return knownZone(name) ?? unknownZone(name)
}

let cachedLocalZone: Zone | undefined

/** Returns the zone of the process; UTC if the system's is unknown. */
export function localZone(): Zone {
  // Cached: a process keeps its zone, and the lookup is slow.
  cachedLocalZone ??= systemZone()
  return cachedLocalZone
}

function systemZone(): Zone {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return name === 'UTC' || name === 'Etc/UTC' ? UTC : (knownZone(name) ?? UTC)
}

/**
 * Returns the offset of an abbreviation in a zone, near a wall-clock time given as if it were UTC.
 * Undefined if the zone does not use it within a year.
 */
export function offsetOfAbbreviation(
  zone: Zone,
  abbreviation: string,
  wallSeconds: number,
): number | undefined {
  const inUse = SAMPLE_DAYS.map((days) => wallSeconds + days * 86_400)
    .filter((instant) => zone.abbreviationAt(instant) === abbreviation)
    .map((instant) => zone.offsetAt(instant))
  const inForce = inUse.find((offset) => zone.abbreviationAt(wallSeconds - offset) === abbreviation)
  return inForce ?? inUse[0]
}

/** Close enough together to sample every daylight-saving season. */
const SAMPLE_DAYS = [0, -1, 1, -60, 60, -120, 120, -180, 180]

function knownZone(name: string): Zone | undefined {
  // ICU accepts names in any case and bare offsets. Go accepts neither, so the list of names is
  // checked as well.
  if (!hasAbbreviations(name) && !Intl.supportedValuesOf('timeZone').includes(name)) return undefined
  const offsetAt = zoneOffset(name)
  if (offsetAt === undefined) return undefined
  return {
    offsetAt,
    abbreviationAt: (unixSeconds) => abbreviationIn(name, unixSeconds, offsetAt(unixSeconds)),
  }
}

function unknownZone(name: string): never {
  throw new BuiltinError(`unknown time zone ${name}`)
}

const MS_PER_SECOND = 1000
/** Cached by zone: creating one takes as long as a hundred uses. */
const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * Returns a function for the offset of an ICU zone at an instant, in seconds east of Greenwich;
 * undefined if ICU does not know the name.
 */
function zoneOffset(name: string): ((unixSeconds: number) => number) | undefined {
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

/** Returns the clock of a zone as if it were UTC. */
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
