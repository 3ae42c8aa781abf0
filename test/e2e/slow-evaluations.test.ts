import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { ENDLESS_POLICY } from '../support/endless-policy.js'
import { makeWorkspace } from '../support/workspace.js'

const WORK = `package work

import rego.v1

sum := count([1 | some a in numbers.range(1, 700); some b in numbers.range(1, 700); a + b > input.least])
`
const LIMITS = { maxDurationMs: 1000, loopIterations: 2_000_000_000 }
const ENDLESS = '{"input":{"size":1000000}}'

const workspace = makeWorkspace({ 'policies/q.rego': ENDLESS_POLICY, 'policies/work.rego': WORK })
let tidegate: TidegateProcess

const post = (path: string, body: string): Promise<Answered> =>
  ask(tidegate.url, { path, body, headers: { 'content-type': 'application/json' } })
const judge = (body: string): Promise<Answered> => post('/v1/staticPolicy/eval', body)

async function figure(name: string): Promise<number> {
  const { text } = await ask(tidegate.url, { path: '/metrics' })
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

beforeAll(async () => {
  tidegate = await startTidegate({
    workspace,
    config: {
      policies: { limits: LIMITS, slowEvaluations: { threads: 1, queueLength: 2, maxWaitSeconds: 10 } },
    },
  })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

describe('during endless evaluations', () => {
  it('cheap decisions of the same path are answered, and all beyond the queue are refused with a time to return', async () => {
    const runaways = Array.from({ length: 6 }, () => judge(ENDLESS))
    const statuses = new Set<number>()
    const progress = { isOver: false }
    const over = Promise.all(runaways).finally(() => (progress.isOver = true))
    let asked = 0
    do {
      statuses.add((await judge('{"input":{"block":true}}')).status)
      statuses.add((await judge('{"input":{"block":false}}')).status)
      asked += 1
    } while (!progress.isOver)
    expect(statuses).toEqual(new Set([401, 200]))
    expect(asked).toBeGreaterThan(20)
    const answers = await over
    const ended = answers.filter(({ status }) => status === 500)
    const refused = answers.filter(({ status }) => status === 503)
    expect(ended.length + refused.length).toBe(6)
    expect(ended.length).toBeGreaterThanOrEqual(1)
    for (const answer of ended) expect(objectOf(answer)['code']).toBe('evaluation_budget_exceeded')
    for (const answer of refused) {
      expect(objectOf(answer)['code']).toBe('evaluation_unavailable')
      expect(answer.headers['retry-after']).toBe('10')
    }
    expect(refused.length).toBeGreaterThanOrEqual(3)
  })

  it('an evaluation that takes longer than its slice gets its answer afterwards', async () => {
    const answer = await post('/v1/data/work/sum', '{"input":{"least":0}}')
    expect([answer.status, objectOf(answer)['result']]).toEqual([200, 490_000])
    expect(await figure('tidegate_evaluation_slices_abandoned_total')).toBeGreaterThan(0)
    expect(await figure('tidegate_slow_evaluations_total{end="answered"}')).toBeGreaterThan(0)
  })
})
