import { BuiltinError } from '../shared/builtin.js'
import { zoneOffset } from './zone-offset.js'
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
