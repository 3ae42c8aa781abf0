import { BuiltinError } from '../shared/builtin.js'
import { abbreviationIn, hasAbbreviations } from './zone-abbreviations.js'

/** A time zone as Go sees one: at each instant (Unix seconds) an offset and a short name. */
export interface Zone {
  /** Seconds east of Greenwich. */
  offsetAt(unixSeconds: number): number
  /** `CEST`, or digits such as `-03` where the zone has no letters. */
  abbreviationAt(unixSeconds: number): string
}

export const UTC: Zone = { offsetAt: () => 0, abbreviationAt: () => 'UTC' }

/**
 * The zone of an IANA name (as cased there), of `UTC` or the empty text, or the process's own for `Local`. Raises
 * BuiltinError with Go's text for any other name.
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

/** The zone that the process runs in; UTC when the system names none that is known. */
export function localZone(): Zone {
  // A process keeps its zone, and asking for its name is slower than all else here.
  cachedLocalZone ??= systemZone()
  return cachedLocalZone
}

function systemZone(): Zone {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return name === 'UTC' || name === 'Etc/UTC' ? UTC : (knownZone(name) ?? UTC)
}

/**
 * The offset that an abbreviation stands for in a zone, about the wall-clock time given as if it were UTC. Undefined
 * when the zone does not use it within a year.
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

/** Close enough together to meet every daylight-saving season. */
const SAMPLE_DAYS = [0, -1, 1, -60, 60, -120, 120, -180, 180]

function knownZone(name: string): Zone | undefined {
  // ICU takes names in any case and bare offsets; Go takes neither, so the names are asked for as well.
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
/** The same object for each zone: making one takes as long as a hundred questions. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Seconds east of Greenwich that a zone of ICU keeps at an instant (Unix seconds); undefined for a name that ICU does not know. */
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
