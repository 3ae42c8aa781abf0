import { beforeAll, describe, expect, it, vi } from 'vitest'

import type { SlowTicket } from '../../../src/rego/slow/slow-evaluations.js'
import type { SlowEvaluations } from '../../../src/rego/slow/slow-evaluations.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { loadPolicies } from '../../support/load-policies.js'
import { makeSlowEvaluations, silentThreads } from '../../support/slow-evaluations.js'
import { PATIENT } from '../../support/wait-until.js'

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': 'package p\n\nx = 1\n' })
})

function ask(slow: SlowEvaluations, key = 'somebody', of = snapshot): SlowTicket {
  const ticket = slow.submit({
    key,
    snapshot: of,
    request: {
      question: { kind: 'document', path: ['p', 'x'] },
      input: undefined,
      nowMs: 0,
      strictBuiltinErrors: false,
      isVerdict: false,
    },
  })
  ticket.answer.catch(() => undefined)
  return ticket
}

const refused = { kind: 'unavailable', code: 'evaluation_unavailable' }

describe('slow evaluations', () => {
  it('go to one thread after the other, which has the policies loaded once', async () => {
    const { threads, start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    const first = ask(slow)
    const second = ask(slow)
    expect([slow.running, slow.queued]).toEqual([1, 1])
    threads[0]?.heard({ type: 'answered', answer: '1' })
    expect((await first.answer).answer).toBe('1')
    threads[0]?.heard({ type: 'answered', answer: '2' })
    expect((await second.answer).answer).toBe('2')
    expect(threads).toHaveLength(1)
    expect(threads[0]?.sent.map((message) => (message as { type: string }).type)).toEqual([
      'load',
      'evaluate',
      'evaluate',
    ])
  })

  it('are asked of the policies that they began with, also after a reload', async () => {
    const { threads, start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    const reloaded = await loadPolicies({ 'p.rego': 'package p\n\nx = 2\n' })
    ask(slow)
    ask(slow, 'somebody', reloaded)
    threads[0]?.heard({ type: 'answered', answer: '1' })
    await vi.waitFor(() => expect(threads[0]?.sent).toHaveLength(4), PATIENT)
    const revisions = threads[0]?.sent.flatMap((message) => {
      const { snapshot: packed } = message as { snapshot?: { revision: string } }
      return packed === undefined ? [] : [packed.revision]
    })
    expect(revisions).toEqual([snapshot.revision, reloaded.revision])
  })

  it('are refused beyond the queue, with a time to ask again', async () => {
    const { start } = silentThreads()
    const ends: string[] = []
    const slow = makeSlowEvaluations(start, { queueLength: 2, maxWaitMs: 5000 }, (how) => ends.push(how))
    const tickets = [ask(slow), ask(slow), ask(slow), ask(slow)]
    await expect(tickets[3]?.answer).rejects.toMatchObject({ ...refused, retryAfterSeconds: 5 })
    expect(ends).toEqual(['full'])
    slow.stop()
  })

  it('are refused when no thread is free in time', async () => {
    const { start } = silentThreads()
    const slow = makeSlowEvaluations(start, { maxWaitMs: 10 })
    ask(slow)
    await expect(ask(slow).answer).rejects.toMatchObject(refused)
    expect(slow.queued).toBe(0)
    slow.stop()
  })

  it('are dropped when nobody waits any more', async () => {
    const { start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    ask(slow)
    const waiting = ask(slow)
    waiting.drop()
    await expect(waiting.answer).rejects.toMatchObject(refused)
    expect(slow.queued).toBe(0)
    slow.stop()
  })

  it('give their thread to others that wait once nobody wants them any more', async () => {
    const { threads, start } = silentThreads()
    const ends: string[] = []
    const slow = makeSlowEvaluations(start, {}, (how) => ends.push(how))
    const left = ask(slow)
    left.drop()
    expect(threads[0]?.isKilled).toBe(false)
    const waiting = ask(slow)
    await expect(left.answer).rejects.toMatchObject(refused)
    expect([threads[0]?.isKilled, ends]).toEqual([true, ['gone']])
    threads[1]?.heard({ type: 'answered', answer: '1' })
    expect((await waiting.answer).answer).toBe('1')
    slow.stop()
  })

  it('find the next thread ready after one was killed', async () => {
    const { threads, start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    const lost = ask(slow)
    threads[0]?.ended({ isOutOfMemory: true, cause: undefined })
    await expect(lost.answer).rejects.toMatchObject({ code: 'evaluation_budget_exceeded' })
    expect(threads[1]?.sent.map((message) => (message as { type: string }).type)).toEqual(['load'])
    slow.stop()
    expect(threads[1]?.isKilled).toBe(true)
  })

  it('that do not end are killed at their limit, and the next has a new thread', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const { threads, start } = silentThreads()
      const slow = makeSlowEvaluations(start)
      const runaway = ask(slow)
      const next = ask(slow)
      threads[0]?.heard({ type: 'begun', systemId: undefined })
      vi.advanceTimersByTime(DEFAULT_LIMITS.maxDurationMs)
      expect(threads[0]?.isKilled).toBe(false)
      vi.advanceTimersByTime(1000)
      expect(threads[0]?.isKilled).toBe(true)
      await expect(runaway.answer).rejects.toMatchObject({
        kind: 'evaluation_failed',
        code: 'evaluation_budget_exceeded',
      })
      expect(threads).toHaveLength(2)
      threads[1]?.heard({ type: 'answered', answer: '1' })
      expect((await next.answer).answer).toBe('1')
      slow.stop()
    } finally {
      vi.useRealTimers()
    }
  })

  it('fail alone when their thread dies', async () => {
    const { threads, start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    const [outgrown, defective] = [ask(slow), ask(slow)]
    threads[0]?.ended({ isOutOfMemory: true, cause: undefined })
    await expect(outgrown.answer).rejects.toMatchObject({ code: 'evaluation_budget_exceeded' })
    threads[1]?.ended({ isOutOfMemory: false, cause: new Error('defect') })
    await expect(defective.answer).rejects.toMatchObject({ kind: 'internal' })
    const third = ask(slow)
    threads[2]?.heard({ type: 'answered', answer: undefined })
    expect((await third.answer).answer).toBeUndefined()
    slow.stop()
  })

  it('are refused when the service stops, those that wait and those under way', async () => {
    const { threads, start } = silentThreads()
    const slow = makeSlowEvaluations(start)
    const tickets = [ask(slow), ask(slow)]
    slow.stop()
    for (const { answer } of tickets) await expect(answer).rejects.toMatchObject(refused)
    await expect(ask(slow).answer).rejects.toMatchObject(refused)
    expect(threads.map(({ isKilled }) => isKilled)).toEqual([true])
  })
})
