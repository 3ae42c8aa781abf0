import { trimLastSigns } from '../../../lib/text/trim-signs.js'
import type { WallClock } from './calendar.js'
import { isFraction, isOffset, MONTHS, splitLayout, WEEKDAYS } from './go-layout.js'

/** Writes a time by a Go layout, such as `Mon, 02 Jan 2006 15:04:05 MST`. */
export function formatTime(clock: WallClock, layout: string): string {
  return splitLayout(layout)
    .map(({ literal, element }) => literal + writeElement(clock, element))
    .join('')
}

type ElementWriter = (clock: WallClock) => string

const WRITERS: Readonly<Record<string, ElementWriter>> = {
  '': () => '',
  '2006': ({ year }) => padded(year, 4),
  '06': ({ year }) => padded(year % 100, 2),
  January: monthName,
  Jan: (clock) => monthName(clock).slice(0, 3),
  '1': ({ month }) => String(month),
  '01': ({ month }) => padded(month, 2),
  Monday: weekdayName,
  Mon: (clock) => weekdayName(clock).slice(0, 3),
  '2': ({ day }) => String(day),
  _2: ({ day }) => padded(day, 2, ' '),
  '02': ({ day }) => padded(day, 2),
  __2: ({ yearDay }) => padded(yearDay, 3, ' '),
  '002': ({ yearDay }) => padded(yearDay, 3),
  '15': ({ hour }) => padded(hour, 2),
  '3': (clock) => String(hourOfHalfDay(clock)),
  '03': (clock) => padded(hourOfHalfDay(clock), 2),
  '4': ({ minute }) => String(minute),
  '04': ({ minute }) => padded(minute, 2),
  '5': ({ second }) => String(second),
  '05': ({ second }) => padded(second, 2),
  PM: ({ hour }) => (hour >= 12 ? 'PM' : 'AM'),
  pm: ({ hour }) => (hour >= 12 ? 'pm' : 'am'),
  MST: (clock) => clock.abbreviation(),
}

function writeElement(clock: WallClock, element: string): string {
  if (isFraction(element)) return writeFraction(clock.nanosecond, element)
  if (isOffset(element)) return writeOffset(clock.offsetSeconds, element)
  return WRITERS[element]?.(clock) ?? element
}

/** The digits are cut, not rounded; a form of nines drops trailing zeros, and the separator when nothing is left. */
function writeFraction(nanosecond: number, element: string): string {
  const digits = padded(nanosecond, 9).slice(0, element.length - 1)
  if (element[1] === '0') return element.charAt(0) + digits
  const significant = trimLastSigns(digits, '0')
  return significant === '' ? '' : element.charAt(0) + significant
}

function writeOffset(offsetSeconds: number, element: string): string {
  if (element.startsWith('Z') && offsetSeconds === 0) return 'Z'
  const magnitude = Math.abs(offsetSeconds)
  const parts = [Math.floor(magnitude / 3600), Math.floor(magnitude / 60) % 60, magnitude % 60]
  // After the sign come pairs of digits, one for each unit that the form shows.
  const shown = element.slice(1).replaceAll(':', '').length / 2
  const sign = offsetSeconds < 0 ? '-' : '+'
  return (
    sign +
    parts
      .slice(0, shown)
      .map((part) => padded(part, 2))
      .join(element.includes(':') ? ':' : '')
  )
}

function monthName({ month }: WallClock): string {
  return MONTHS[month - 1] ?? ''
}

function weekdayName({ weekday }: WallClock): string {
  return WEEKDAYS[weekday] ?? ''
}

function hourOfHalfDay({ hour }: WallClock): number {
  return hour % 12 || 12
}

function padded(value: number, width: number, fill = '0'): string {
  return String(value).padStart(width, fill)
}
