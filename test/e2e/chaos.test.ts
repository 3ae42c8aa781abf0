import { expect, test } from 'vitest'

import { killRepeatedly } from '../support/chaos/kill-rounds.js'
import { durableWrites } from '../support/chaos/mixed-writes.js'

/** A short form of `make chaos`. */
const TIME_LIMIT_MS = 240_000
const CALLERS = 12

test(
  'whatever was acknowledged is there, once, after kills under mixed load',
  async () => {
    const rounds = 6
    const { promised, problems } = await killRepeatedly({ rounds, callers: CALLERS, longestMs: 200, seed: 7 })
    expect(problems).toEqual([])
    expect(durableWrites(promised)).toBeGreaterThan(rounds)
  },
  TIME_LIMIT_MS,
)
