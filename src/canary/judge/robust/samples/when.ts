import type { CleanSide, Clock } from './clean-side.js'

/** A stretch in points of the series: the first one, and the one after the last. */
export interface StretchPoints {
  readonly from: number
  readonly to: number
}

const PLAIN: Clock = { pointsPerPlace: 1, firstPoint: 0, startMs: undefined, stepMs: undefined }
/** `2026-03-01T10:24:00.000Z` without date and fractions. */
const TIME = { from: 11, to: 16, toSeconds: 19 }
const MS_PER_MINUTE = 60_000

/**
 * The points of the series that the places from `from` up to `to` (not included) stand for. A value
 * of a window of several points stands for all of them.
 */
export function pointsOf(
  { clock = PLAIN }: Pick<CleanSide, 'clock'>,
  from: number,
  to: number,
): StretchPoints {
  const { pointsPerPlace, firstPoint } = clock
  return {
    from: Math.max(0, firstPoint + from * pointsPerPlace - (pointsPerPlace - 1)),
    to: firstPoint + (to - 1) * pointsPerPlace + 1,
  }
}

/** A stretch in words: `10:24 to 10:40 UTC`, or `point 25 to 40` if times are not known. */
export function whenOf(
  { clock = PLAIN }: Pick<CleanSide, 'clock'>,
  { from, to }: StretchPoints,
  isLast: boolean,
): string {
  const { startMs, stepMs } = clock
  if (startMs === undefined || stepMs === undefined)
    return isLast ? `point ${from + 1} to the end` : `point ${from + 1} to ${to}`
  const timeOf = (point: number): string => {
    const ms = startMs + point * stepMs
    const end = ms % MS_PER_MINUTE === 0 ? TIME.to : TIME.toSeconds
    return new Date(ms).toISOString().slice(TIME.from, end)
  }
  return isLast ? `${timeOf(from)} UTC to the end` : `${timeOf(from)} to ${timeOf(to)} UTC`
}
