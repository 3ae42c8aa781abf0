import { describe, expect, test } from 'vitest'

import type { OutboundClient, OutboundResponse } from '../../../src/lib/outbound/outbound-client.js'
import { OutboundError } from '../../../src/lib/outbound/outbound-error.js'
import { sendWithRetries } from '../../../src/lib/outbound/send-with-retries.js'
import { instantClock } from '../../support/instant-clock.js'

const REQUEST = { method: 'GET', url: 'http://example.org/', timeoutMs: 1000, maxResponseBytes: 10 } as const

const answer = (status: number, headers = {}): OutboundResponse => ({
  status,
  reason: '',
  headers,
  headerValues: {},
  body: Buffer.alloc(0),
})
const failure = (reason: OutboundError['reason']): OutboundError => new OutboundError(reason, reason)

/**
 * A client that plays its outcomes in order, each taking some time of a clock that only the test
 * moves.
 */
function play(
  outcomes: readonly (OutboundResponse | Error)[],
  options: { budgetMs?: number; attempts?: number; takesMs?: number; signal?: AbortSignal } = {},
) {
  const { pass, waits, ...clock } = instantClock(0)
  const timeouts: number[] = []
  const client: OutboundClient = {
    send: (request) => {
      timeouts.push(request.timeoutMs)
      pass(options.takesMs ?? 0)
      const outcome = outcomes[timeouts.length - 1] ?? new Error('asked too often')
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
    },
    close: () => Promise.resolve(),
  }
  const result = sendWithRetries(
    client,
    { ...REQUEST, signal: options.signal },
    {
      budgetMs: options.budgetMs ?? 60_000,
      attempts: options.attempts ?? 4,
      baseMs: 100,
      ...clock,
    },
  )
  return { result, waits, timeouts }
}

describe('a request with retries', () => {
  test('waits no longer than its budget although the clock is set back', async () => {
    const setBack = { takesMs: -3_600_000, budgetMs: 60_000 }
    const { result, waits } = play([answer(503, { 'retry-after': '1800' })], setBack)
    expect(await result).toMatchObject({ status: 503 })
    expect(waits).toEqual([])
  })

  test.each([200, 302, 400, 401, 404, 409])('returns a %i immediately', async (status) => {
    const { result, waits } = play([answer(status)])
    expect(await result).toMatchObject({ status })
    expect(waits).toEqual([])
  })

  test.each([
    { name: '429', outcome: answer(429) },
    { name: '500', outcome: answer(500) },
    { name: '503', outcome: answer(503) },
    { name: 'no connection', outcome: failure('not_connected') },
    { name: 'a timeout', outcome: failure('timed_out') },
  ])('tries again after $name, waiting longer each time', async ({ outcome }) => {
    const { result, waits } = play([outcome, outcome, answer(200)])
    expect(await result).toMatchObject({ status: 200 })
    expect(waits).toEqual([50, 100])
  })

  test.each(['target_refused', 'too_large', 'aborted'] as const)(
    'gives up at once when %s',
    async (reason) => {
      const { result, waits } = play([failure(reason)])
      await expect(result).rejects.toMatchObject({ reason })
      expect(waits).toEqual([])
    },
  )

  test('gives the last response when the attempts are used up', async () => {
    const { result, timeouts } = play([answer(500), answer(502), answer(503)], { attempts: 3 })
    expect(await result).toMatchObject({ status: 503 })
    expect(timeouts).toHaveLength(3)
  })

  test('raises the last error when the attempts are used up', async () => {
    const { result } = play([answer(500), failure('timed_out')], { attempts: 2 })
    await expect(result).rejects.toMatchObject({ reason: 'timed_out' })
  })

  test('waits at least for the time in Retry-After', async () => {
    const { result, waits } = play([answer(429, { 'retry-after': '7' }), answer(200)])
    expect(await result).toMatchObject({ status: 200 })
    expect(waits).toEqual([7000])
  })

  test('does not wait for a time after the end of its budget', async () => {
    const { result, waits } = play([answer(429, { 'retry-after': '61' })])
    expect(await result).toMatchObject({ status: 429 })
    expect(waits).toEqual([])
  })

  test('shortens the time limit of an attempt to the rest of the budget', async () => {
    const { result, timeouts } = play([failure('timed_out'), answer(200)], { budgetMs: 1200, takesMs: 900 })
    expect(await result).toMatchObject({ status: 200 })
    expect(timeouts).toEqual([1000, 250])
  })
})
