import { expect, test } from 'vitest'

import { HARD_STOPS, stopHeldUpBy } from '../support/chaos/hard-stops.js'

const TIME_LIMIT_MS = 120_000
/** The drain time is 10 s. A shorter stop did not wait for it. */
const MAX_MS = 9500

test.each(HARD_STOPS)(
  'a stop is not delayed by %s, and answers waiting requests',
  async (heldUpBy) => {
    const { answers, code, durationMs } = await stopHeldUpBy(heldUpBy)
    expect(code).toBe(0)
    for (const { status, text } of answers) {
      expect([500, 503], text).toContain(status)
      expect(text).toMatch(/evaluation_budget_exceeded|the service is stopping/)
    }
    expect(durationMs).toBeLessThan(MAX_MS)
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
