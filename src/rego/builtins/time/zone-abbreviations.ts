import { ZONE_ABBREVIATION_TABLE } from './zone-abbreviation-table.js'

/** A stretch of time in which each offset of a zone has one name. */
interface Era {
  readonly untilSeconds: number
  readonly nameByOffset: ReadonlyMap<number, string>
}

/** Whether the IANA database knows a zone of exactly this name. */
export function hasAbbreviations(zoneName: string): boolean {
  return erasByZone().has(zoneName)
}

/**
 * The abbreviation of a zone at an instant (Unix seconds), given its offset then (seconds east): exact since 1970; before,
 * the oldest name known for the offset, and `LMT` for local mean time. Digits (`+0545`) when there is no name.
 */
export function abbreviationIn(zoneName: string, unixSeconds: number, offsetSeconds: number): string {
  const era = erasByZone()
    .get(zoneName)
    ?.find(({ untilSeconds }) => unixSeconds < untilSeconds)
  const name = era?.nameByOffset.get(offsetSeconds)
  if (name !== undefined) return name
  return offsetSeconds % 60 === 0 ? digitsOf(offsetSeconds) : 'LMT'
}

function digitsOf(offsetSeconds: number): string {
  const minutes = Math.abs(offsetSeconds) / 60
  const hour = String(Math.floor(minutes / 60)).padStart(2, '0')
  const minute = minutes % 60 === 0 ? '' : String(minutes % 60).padStart(2, '0')
  return `${offsetSeconds < 0 ? '-' : '+'}${hour}${minute}`
}

let cached: ReadonlyMap<string, readonly Era[]> | undefined

/** Read from the table on first use, since most policies never name a zone. */
function erasByZone(): ReadonlyMap<string, readonly Era[]> {
  cached ??= readTable(ZONE_ABBREVIATION_TABLE)
  return cached
}

function readTable(table: string): ReadonlyMap<string, readonly Era[]> {
  const byZone = new Map<string, readonly Era[]>()
  for (const record of table.split(';')) {
    const [erasText = '', zonesText = ''] = record.split(':')
    const eras = erasText.split('|').map(readEra)
    for (const zone of words(zonesText)) byZone.set(zone, eras)
  }
  return byZone
}

function readEra(text: string): Era {
  const [names = '', until] = text.split('until')
  const nameByOffset = new Map<number, string>()
  const parts = words(names)
  for (let i = 0; i + 1 < parts.length; i += 2) nameByOffset.set(Number(parts[i]) * 60, parts[i + 1] ?? '')
  return { untilSeconds: until === undefined ? Infinity : Number(until), nameByOffset }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
