import { expect, test } from 'vitest'

import { HARD_STOPS, stopHeldUpBy } from '../support/chaos/hard-stops.js'

const TIME_LIMIT_MS = 120_000
/** Longer than a test may take: one whose service waits for all of it fails. */
const DRAIN_SECONDS = 600

test.each(HARD_STOPS)(
  'a stop is not delayed by %s, and answers waiting requests',
  async (heldUpBy) => {
    const { answers, code } = await stopHeldUpBy(heldUpBy, { drainSeconds: DRAIN_SECONDS })
    expect(code).toBe(0)
    for (const { status, text } of answers) {
      expect([500, 503], text).toContain(status)
      expect(text).toMatch(/evaluation_budget_exceeded|the service is stopping|too many requests/)
    }
  },
  TIME_LIMIT_MS,
)

test(
  'what still runs when the time of draining ends is refused with a reason, not cut',
  async () => {
    const held = { drainSeconds: 1, maxDurationMs: 60_000 }
    const { answers, code } = await stopHeldUpBy('evaluations without end', held)
    expect(answers.length).toBeGreaterThan(1)
    for (const { status, text } of answers) {
      expect(status, text).toBe(503)
      expect(text).toContain('the service is stopping')
    }
    expect(code).toBe(0)
  },
  TIME_LIMIT_MS,
)
