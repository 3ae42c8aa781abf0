import { describe, expect, test } from 'vitest'

import { makeRandom, ROWS } from '../../../bench/judge/generate-pairs.js'
import { judgeOne } from '../../support/judge-metrics.js'

describe('the simulation in small', () => {
  const PAIRS = 100
  /** Three standard errors of a share of 2 % and of 90 %, in per cent. */
  const SLACK = { none: 4.5, low: 4.5, found: 12 }

  test.each(ROWS)('$name', ({ make, wanted, limit }) => {
    const random = makeRandom(11)
    let found = 0
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const { classification } = judgeOne({ ...make(random) })
      if (classification === 'High' || classification === 'Low') found += 1
    }
    const share = (100 * found) / PAIRS
    if (wanted === 'found') expect(share).toBeGreaterThan(limit - SLACK.found)
    else expect(share).toBeLessThan(limit + SLACK[wanted])
  })
})
