import type { MetricSpec, Side } from './types.js'

/** Up to here the squares of the statistics, and sums of those over all points, are far from the end of the range of doubles. */
const LARGEST = 1e75
/** Sizes below this, which decaying averages leave behind, are 0: shares of them would leave the range as well. */
const LEAST = 1e-75

/** The side with values that can be reckoned with: those next to 0 are made 0, those too large are gaps, and `outOfRange` says that there are some. */
export function judgeableSide(side: Side, { kind }: Pick<MetricSpec, 'kind'>): Side {
  const { values, exposure } = side
  const outOfRange =
    problemOf('value', values) ??
    (exposure === undefined ? undefined : problemOf('exposure', exposure)) ??
    (kind === 'count' || (kind === 'auto' && exposure !== undefined) ? negativeOf(values) : undefined)
  return {
    ...side,
    values: inRange(values),
    ...(exposure && { exposure: inRange(exposure) }),
    ...(outOfRange !== undefined && { outOfRange }),
  }
}

function problemOf(what: string, values: Float64Array): string | undefined {
  const found = values.find((value) => Math.abs(value) > LARGEST)
  return found === undefined
    ? undefined
    : `the ${what} ${found.toPrecision(4)} cannot be judged: its size is beyond ${LARGEST}`
}

function negativeOf(values: Float64Array): string | undefined {
  const found = values.find((value) => value < 0)
  return found === undefined
    ? undefined
    : `the value ${found.toPrecision(4)} cannot be judged: there are no fewer than 0 events`
}

/** The very values where all are in range, as in nearly all series. */
function inRange(values: Float64Array): Float64Array {
  return values.some(isOdd) ? values.map((value) => (isOdd(value) ? replaced(value) : value)) : values
}

function isOdd(value: number): boolean {
  const size = Math.abs(value)
  return size > LARGEST || (size < LEAST && size > 0)
}

function replaced(value: number): number {
  return Math.abs(value) > LARGEST ? Number.NaN : 0
}
