import { binomialLowerTail, binomialUpperTail } from '../../../statistics/binomial.js'
import type { Total } from './total-events.js'

const BISECTION_STEPS = 60

/**
 * P(as many of the events on one side, or more) when both sides have one rate, given the sum; what was observed counts half
 * (mid-p).
 */
export function moreEventsP(x: Total, y: Total): number {
  if (x.events + y.events === 0) return 1
  return upperMidP(x.events, x.events + y.events, x.exposure / (x.exposure + y.exposure))
}

/**
 * How many times as high the first side's rate is as the other's, from the rates' ratios at which the test by `moreEventsP` has
 * `error` left on either side. Both sides' events are random, so their sum is given and the share of it is what is uncertain.
 */
export function rateRatioInterval(x: Total, y: Total, error: number): readonly [number, number] {
  const events = x.events + y.events
  const ratioOf = (share: number): number =>
    share >= 1 ? Infinity : (share / (1 - share)) * (y.exposure / x.exposure)
  const shareWhere = (isBelow: (share: number) => boolean): number => {
    let [low, high] = [0, 1]
    for (let step = 0; step < BISECTION_STEPS; step += 1) {
      const middle = (low + high) / 2
      if (isBelow(middle)) low = middle
      else high = middle
    }
    return (low + high) / 2
  }
  const lower = x.events === 0 ? 0 : shareWhere((share) => upperMidP(x.events, events, share) < error)
  const upper = y.events === 0 ? 1 : shareWhere((share) => upperMidP(x.events, events, share) < 1 - error)
  return [ratioOf(lower), ratioOf(upper)]
}

/**
 * The difference of two rates, put together from the score interval of each, at `z` standard errors (Zou and Donner 2008); as far as
 * `factor` says are events worth less than independent ones.
 */
export function rateDifferenceInterval(
  x: Total,
  y: Total,
  z: number,
  factor: number,
): readonly [number, number] {
  const [one, other] = [scoreInterval(x, z, factor), scoreInterval(y, z, factor)]
  const [rate, before] = [x.events / x.exposure, y.events / y.exposure]
  const difference = rate - before
  return [
    difference - Math.hypot(rate - one[0], other[1] - before),
    difference + Math.hypot(one[1] - rate, before - other[0]),
  ]
}

function scoreInterval({ events, exposure }: Total, z: number, factor: number): readonly [number, number] {
  const worth = events / factor
  const [centre, reach] = [worth + (z * z) / 2, z * Math.sqrt(worth + (z * z) / 4)]
  return [((centre - reach) * factor) / exposure, ((centre + reach) * factor) / exposure]
}

function upperMidP(events: number, all: number, share: number): number {
  const atLeast = binomialUpperTail(events, all, share)
  const exactly = atLeast + binomialLowerTail(events, all, share) - 1
  return atLeast - exactly / 2
}
