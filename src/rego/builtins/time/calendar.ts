import { BuiltinError } from '../shared/builtin.js'
import type { Zone } from './zone.js'

const NS_PER_SECOND = 1_000_000_000n
const SECONDS_PER_DAY = 86_400n
const DAY_NS = SECONDS_PER_DAY * NS_PER_SECOND
/** The Gregorian calendar repeats after this many years and days. */
const CYCLE_YEARS = 400n
const CYCLE_DAYS = 146_097n

/** A zone's clock and calendar. Months and days count from 1, weekdays from Sunday = 0. */
export interface WallClock {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly yearDay: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanosecond: number
  readonly offsetSeconds: number
  /** A function, because it is rarely needed and requires a lookup. */
  abbreviation(): string
}

/** A date and time on a clock. Months, days and other fields may be out of range. */
export interface WallTime {
  readonly year: bigint
  readonly month: bigint
  readonly day: bigint
  readonly secondOfDay: number
  readonly nanosecond: number
}

/** Returns a zone's clock at an instant within the range of 64-bit nanoseconds. */
export function wallClockAt(unixNs: bigint, zone: Zone): WallClock {
  const unixSeconds = Number(floorDivide(unixNs, NS_PER_SECOND))
  const offsetSeconds = zone.offsetAt(unixSeconds)
  let abbreviation: string | undefined
  const shifted = new Date((unixSeconds + offsetSeconds) * 1000)
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    yearDay: Math.floor((shifted.getTime() - Date.UTC(shifted.getUTCFullYear(), 0, 1)) / 86_400_000) + 1,
    weekday: shifted.getUTCDay(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    nanosecond: Number(unixNs - BigInt(unixSeconds) * NS_PER_SECOND),
    offsetSeconds,
    abbreviation: () => (abbreviation ??= zone.abbreviationAt(unixSeconds)),
  }
}

/** Returns the instant of a UTC clock in nanoseconds since the epoch, of any size. */
export function utcNsOf(time: WallTime): bigint {
  const seconds = daysSinceEpoch(time) * SECONDS_PER_DAY + BigInt(time.secondOfDay)
  return seconds * NS_PER_SECOND + BigInt(time.nanosecond)
}

/**
 * Returns the instant at which a zone's clock shows this time. In a gap or overlap it is the one
 * that Go chooses. Throws BuiltinError if it exceeds 64 bits of nanoseconds.
 */
export function zonedNsOf(time: WallTime, zone: Zone): bigint {
  const asUtc = utcNsOf(time)
  // Zones only work near the supported years. With a margin of a day, the exact check is at the
  // end.
  requireInt64(asUtc - (asUtc < 0n ? -DAY_NS : DAY_NS))
  const wallSeconds = Number(floorDivide(asUtc, NS_PER_SECOND))
  const offset = zone.offsetAt(wallSeconds - zone.offsetAt(wallSeconds))
  return requireInt64(asUtc - BigInt(offset) * NS_PER_SECOND)
}

/** Returns the argument if it fits 64 bits. Throws BuiltinError otherwise. */
export function requireInt64(unixNs: bigint): bigint {
  if (BigInt.asIntN(64, unixNs) !== unixNs) throw new BuiltinError('time outside of valid range')
  return unixNs
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

/**
 * Returns years, months, days, hours, minutes and seconds between two readings of a clock, the
 * earlier first. An incomplete month counts its days by the length of the earlier reading's month.
 */
export function calendarDistance(from: WallClock, to: WallClock): readonly number[] {
  const parts = [
    to.year - from.year,
    to.month - from.month,
    to.day - from.day,
    to.hour - from.hour,
    to.minute - from.minute,
    to.second - from.second,
  ]
  const sizes = [Infinity, 12, daysInMonth(from.year, from.month), 24, 60, 60]
  // Borrows from the seconds up, each unit from the next larger one.
  return parts.reduceRight<{ borrow: number; done: number[] }>(
    ({ borrow, done }, part, i) => {
      const value = part - borrow
      return value < 0 && i > 0
        ? { borrow: 1, done: [value + (sizes[i] ?? 0), ...done] }
        : { borrow: 0, done: [value, ...done] }
    },
    { borrow: 0, done: [] },
  ).done
}

function daysSinceEpoch({ year, month, day }: WallTime): bigint {
  const monthIndex = month - 1n
  const wholeYear = year + floorDivide(monthIndex, 12n)
  const cycles = floorDivide(wholeYear, CYCLE_YEARS)
  const yearOfCycle = Number(wholeYear - cycles * CYCLE_YEARS)
  const monthOfYear = Number(monthIndex - floorDivide(monthIndex, 12n) * 12n)
  // Year 2000 begins a cycle; Date treats years below 100 as years of the last century.
  const firstOfMonth = Date.UTC(2000 + yearOfCycle, monthOfYear, 1) / 86_400_000
  return BigInt(firstOfMonth) + (cycles - 5n) * CYCLE_DAYS + day - 1n
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}
