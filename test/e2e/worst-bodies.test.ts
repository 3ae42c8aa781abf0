import { expect, test } from 'vitest'

import { runWorstBodies } from '../support/bodies/run-worst-bodies.js'
import { writeRoutes } from '../support/bodies/write-routes.js'

/**
 * A short form of the bodies of `make soak`: some of its bodies, all that the writing of texts could
 * be held up by, and null everywhere.
 */
const TIME_LIMIT_MS = 240_000
const CHOICES = [{ oneIn: 23 }, { filling: 'backslashes' }, { filling: 'null' }]

test.each(CHOICES)(
  'the worst bodies that a route takes (%j) are answered as documented, and hold up no cheap decision',
  async (choice) => {
    const { outcomes, exitCode } = await runWorstBodies(choice)
    const bad = outcomes.filter(
      ({ status, text }) => status === 0 || (status >= 500 && !text.includes('evaluation_budget_exceeded')),
    )
    expect(bad).toEqual([])
    expect(new Set(outcomes.map(({ route }) => route)).size).toBeGreaterThan(writeRoutes().length / 2)
    expect(exitCode).toBe(0)
  },
  TIME_LIMIT_MS,
)
