import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = `package query

import rego.v1

fits := graphql.is_valid(input.query, input.schema)

slow := count([1 | some a in numbers.range(1, 400); some b in numbers.range(1, 400); a + b > 0])
`
/** Without a slice, every evaluation goes to a slow thread. */
const LIMITS = { maxDurationMs: 500, sliceMs: 0 }
/**
 * For each name that is not in the schema, the library looks for similar ones: seconds in one call
 * that looks at no clock.
 */
const NAMES = 16_000
const WRONG_NAMES = 99

const workspace = makeWorkspace({ 'policies/query.rego': POLICY })
let tidegate: TidegateProcess

beforeAll(async () => {
  tidegate = await startTidegate({
    workspace,
    config: { policies: { limits: LIMITS, slowEvaluations: { threads: 1 } } },
  })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

async function endedBy(end: string): Promise<number> {
  const { text } = await ask(tidegate.url, { path: '/metrics' })
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`tidegate_slow_evaluations_total{end="${end}"}`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

function fits(names: number, wrong: string): ReturnType<typeof postJson> {
  const fields = Array.from({ length: names }, (_, n) => `aFieldWithALongName${n}: String`)
  const asked = Array.from({ length: WRONG_NAMES }, (_, n) => `${wrong}${n}`)
  const input = { query: `{ ${asked.join(' ')} }`, schema: `type Query { ${fields.join(' ')} }` }
  return postJson(tidegate.url, '/v1/data/query/fits', { input })
}

describe('an evaluation that is in one long call of a library', () => {
  it('is ended with its thread when its time is over, and the next one gets another thread', async () => {
    const answer = await fits(NAMES, 'aFieldWithALongNome')
    expect([answer.status, objectOf(answer)['code']]).toEqual([500, 'evaluation_budget_exceeded'])
    expect(answer.text).toContain('longer than 500 ms')
    expect(await endedBy('killed')).toBe(1)
    const next = await postJson(tidegate.url, '/v1/data/query/slow', { input: {} })
    expect([next.status, objectOf(next)['result']]).toEqual([200, 160_000])
    expect(await endedBy('answered')).toBe(1)
    expect(objectOf(await fits(WRONG_NAMES, 'aFieldWithALongName'))['result']).toBe(true)
    expect(tidegate.isRunning()).toBe(true)
  })
})
