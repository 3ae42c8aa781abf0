import { describe, expect, it } from 'vitest'

import { judgeOne } from '../../../../support/judge-metrics.js'

const POINTS = 60
const of = (value: (place: number) => number): Float64Array =>
  Float64Array.from({ length: POINTS }, (_, place) => value(place))

/** Requests of both sides a minute, and which of them fail in which minute. */
function judge(
  [before, now]: readonly [number, number],
  control: (place: number) => number,
  experiment: (place: number) => number,
) {
  return judgeOne({
    control: of(control),
    experiment: of(experiment),
    exposure: { control: of(() => before), experiment: of(() => now) },
  })
}

const everyTenth = (place: number): boolean => place % 10 === 3

describe('errors that come in bursts', () => {
  it('are no more of a canary that has a tenth of the traffic and the same bursts', () => {
    const result = judge(
      [1000, 100],
      (place) => (everyTenth(place) ? 200 : 0),
      (place) => (everyTenth(place + 5) ? 20 : 0),
    )
    expect(result.classification).toBe('Pass')
  })

  it('are more where the canary has them four times as often', () => {
    const result = judge(
      [1000, 100],
      (place) => (everyTenth(place) ? 200 : 0),
      (place) => (place % 5 < 3 && place % 2 === 0 ? 20 : 0),
    )
    expect(result.classification).toBe('High')
  })

  it('are no proof while a canary with as much traffic had three of them, and its baseline one', () => {
    const burst = (starts: readonly number[], place: number): number =>
      starts.some((start) => place >= start && place < start + 3) ? 100 : place % 2
    const result = judge(
      [1000, 1000],
      (place) => burst([20], place),
      (place) => burst([5, 24, 47], place),
    )
    expect(result.classification).not.toBe('High')
  })

  it('are told by how much the rate changed, not the number of points that have some', () => {
    const result = judge(
      [200, 300],
      (place) => (everyTenth(place) ? 32 : 0),
      (place) => (everyTenth(place) ? 59 : 0),
    )
    const rate = result.finding?.tests.find(({ test }) => test === 'rate')
    expect(rate?.says).toMatch(/2 % against 1.6 %.*a change of \+23 %/u)
  })
})
