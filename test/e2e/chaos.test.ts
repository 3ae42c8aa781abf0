import { expect, test } from 'vitest'

import { killRepeatedly } from '../support/chaos/kill-rounds.js'
import { durableWrites } from '../support/chaos/mixed-writes.js'
import { stopRepeatedly } from '../support/chaos/stop-rounds.js'

/** Short forms of the kills and stops of `make soak`. */
const TIME_LIMIT_MS = 240_000
const CALLERS = 12

test(
  'whatever was acknowledged is there, once, after kills under mixed load',
  async () => {
    const rounds = 6
    const { promised, problems } = await killRepeatedly({ rounds, callers: CALLERS, longestMs: 200, seed: 7 })
    expect(problems).toEqual([])
    expect(durableWrites(promised)).toBeGreaterThan(rounds)
    expect(promised.analyses.size).toBeGreaterThan(0)
  },
  TIME_LIMIT_MS,
)

test(
  'a stop under load answers every request that was sent, and ends with 0',
  async () => {
    const { cut, codes } = await stopRepeatedly({ rounds: 3, callers: CALLERS, loadMs: 300, seed: 7 })
    expect(cut).toEqual([])
    expect(codes).toEqual([0, 0, 0])
  },
  TIME_LIMIT_MS,
)
