import { describe, expect, it } from 'vitest'
import { afterAttempt } from '../../src/outbox/after-attempt.js'
import type { Attempt } from '../../src/outbox/after-attempt.js'
import { storedMessage } from '../support/stored-message.js'

const NOW = 1_000_000
const POLICY = { firstRetryMs: 1000, maxRetryMs: 60_000, giveUpAfterMs: 3_600_000 }
const always = (): number => 0.5

const answered = (status: number, retryAfterMs?: number): Attempt => ({
  type: 'answered',
  status,
  retryAfterMs,
})

const cases: readonly (readonly [string, Attempt, number, object])[] = [
  ['is delivered by any 2xx', answered(204), 0, { state: 'delivered', settledMs: NOW, lastStatus: 204 }],
  [
    'is tried again after a 500',
    answered(500),
    0,
    { state: 'pending', nextAttemptMs: NOW + 500, lastStatus: 500 },
  ],
  [
    'waits twice as long after the second failure',
    answered(500),
    1,
    { nextAttemptMs: NOW + 1000, attempts: 2 },
  ],
  ['never waits longer than the longest wait', answered(500), 30, { nextAttemptMs: NOW + 30_000 }],
  ['waits as long as the receiver asks', answered(429, 90_000), 0, { nextAttemptMs: NOW + 90_000 }],
  ['waits no less than its own back-off', answered(503, 1), 0, { nextAttemptMs: NOW + 500 }],
  [
    'takes a redirect for a failure',
    answered(302),
    0,
    { state: 'pending', lastError: 'the receiver answered 302' },
  ],
  ['is given up at once when the receiver is gone', answered(410), 0, { state: 'given_up', settledMs: NOW }],
  [
    'is tried again when there was no answer',
    { type: 'failed', error: 'no', isFinal: false },
    0,
    { state: 'pending' },
  ],
  [
    'is given up when it may never be sent',
    { type: 'failed', error: 'no', isFinal: true },
    0,
    { state: 'given_up' },
  ],
]

describe('a message after an attempt', () => {
  it.each(cases)('%s', (_, attempt, attempts, expected) => {
    const message = storedMessage({ attempts, triedSinceMs: NOW })
    expect(afterAttempt(message, attempt, POLICY, NOW, always)).toMatchObject(expected)
  })

  it('is given up once the next attempt would come after its time', () => {
    const message = storedMessage({ triedSinceMs: NOW - POLICY.giveUpAfterMs + 400 })
    expect(afterAttempt(message, answered(500), POLICY, NOW, always)).toMatchObject({ state: 'given_up' })
  })
})
