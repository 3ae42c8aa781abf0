import { describe, expect, it } from 'vitest'
import { advance } from '../../src/notifications/follow-trail.js'
import type { Progress } from '../../src/notifications/follow-trail.js'
import type { Notice } from '../../src/notifications/notice.js'

const TIMES = { collectMs: 10, intervalMs: 100 }
const RULES = [{ channel: 'ops', events: ['policy.denied', 'gate.decided'] as const }]
const START: Progress = { seq: 0, groups: [] }

function denial(pipeline: string, application = 'shop'): Notice {
  const path = '/ui/decisions/1'
  return { event: 'policy.denied', timeMs: 0, subject: 's', path, application, pipeline, count: 1 }
}

function run(progress: Progress, notices: readonly Notice[], nowMs: number) {
  const next = advance(progress, { seq: progress.seq + notices.length, notices }, RULES, TIMES, nowMs)
  return { ...next, counts: next.due.map(({ notice }) => [notice.pipeline, notice.count]) }
}

describe('notifications of denials', () => {
  it('are one message with a count for a storm in one pipeline', () => {
    const storm = run(
      START,
      Array.from({ length: 500 }, () => denial('deploy')),
      0,
    )
    expect(storm.due).toEqual([])
    const first = run(storm.progress, [], 10)
    expect(first.counts).toEqual([['deploy', 500]])
    expect(first.due[0]?.notice.path).toBe('/ui/decisions?outcome=deny&application=shop')
  })

  it('are counted until the next message, which comes after the interval', () => {
    const first = run(run(START, [denial('deploy')], 0).progress, [], 10)
    expect(first.due[0]?.notice.path).toBe('/ui/decisions/1')
    const more = run(first.progress, [denial('deploy'), denial('deploy')], 50)
    expect(more.due).toEqual([])
    const second = run(more.progress, [], 110)
    expect(second.counts).toEqual([['deploy', 2]])
    const quiet = run(second.progress, [], 210)
    expect(quiet).toMatchObject({ due: [], progress: { groups: [] } })
  })

  it('are counted together for pipelines beyond 20, so that a wrong policy sends few messages', () => {
    const many = Array.from({ length: 300 }, (_, index) => denial(`p${index}`))
    const due = run(run(START, many, 0).progress, [], 10)
    expect(due.due).toHaveLength(21)
    expect(due.counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(300)
    expect(due.due.at(-1)?.notice.application).toBeUndefined()
  })

  it('are not delayed for long by a clock that was set back', () => {
    const { progress } = run(START, [denial('deploy')], 1_000_000)
    const back = run(progress, [], 0)
    expect(back.progress.groups[0]?.dueMs).toBe(100)
  })
})

describe('notifications of gates', () => {
  it('are one message each, immediately', () => {
    const decided: Notice = { ...denial('deploy'), event: 'gate.decided', gate: 'Production' }
    expect(run(START, [decided, decided], 0).due).toHaveLength(2)
  })
})
