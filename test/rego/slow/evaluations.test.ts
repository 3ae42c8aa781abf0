import { beforeAll, describe, expect, it } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import type { CostMeasurements } from '../../../src/rego/metering/evaluation-cost.js'
import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import type { EvaluateOptions } from '../../../src/rego/slow/evaluations-options.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'

const POLICY = `package p
import rego.v1

plain := {"a": [1, 2.50, 1e3, "ü", null], "s": {3, 1, 2}, "in": input}
now := time.now_ns()
same_random if rand.intn("x", 1000000) == rand.intn("x", 1000000)
same_id if uuid.rfc4122("a") == uuid.rfc4122("a")
missing := input.nothing
base := data.base.list[_].name
work := count([1 | some x in numbers.range(1, input.n); some y in numbers.range(1, 200); x == y])
conflict := 1 if { input.n > 0 }
conflict := 2 if { work > 0 }
failing := to_number(input.text)
twice(x) := 1 if { x > 0 }
twice(x) := 2 if { x > 1 }
function_conflict := twice(input.n)
sorted := sort([x | some x in numbers.range(1, input.n)])
deny contains msg if { input.n > 100; msg := sprintf("%d is too many", [input.n]) }
`
const STATIC = `package static.q
import rego.v1
deny contains sprintf("%d things", [count(numbers.range(1, input.n))]) if { input.n > 10 }
`
const DATA = JSON.stringify({ base: { list: [{ name: 'one' }, { n: 1.5e300, name: 2 }] } })
const RULES = /^(\w+)(?=[( ]|$)/gm
const PATHS = [
  ...[...new Set([...POLICY.matchAll(RULES)].map(([name]) => `p/${name}`))].filter(
    (path) => !/package|import|twice/.test(path),
  ),
  'p',
  'base',
  'base/list/0',
  'p/plain/in/text',
  'nowhere/at/all',
  '',
]
const INPUTS = [
  undefined,
  '{}',
  '{"n":1,"text":"12"}',
  '{"n":2,"text":"no number"}',
  '{"n":500,"text":"\\ud83d\\ude00","nested":[[[{"k":[true]}]]]}',
  '[1,2]',
  'null',
]
const NO_COST: CostMeasurements = { fuel: 0, instancesReplaced: 0, packages: [], packageFuel: [] }
const NOW_MS = 1_700_000_000_123

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICY, 'q.rego': STATIC, 'data.json': DATA })
})

/** The result, or an error with everything that a caller sees. */
async function outcome(ask: () => unknown): Promise<unknown> {
  try {
    return await ask()
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    const { kind, code, message, details } = raw
    return { kind, code, message, details }
  }
}

function makeEvaluations(sliceMs: number, abandoned: () => void = () => undefined): Evaluations {
  return new Evaluations({ slow: makeSlowEvaluations(startOnThisThread), sliceMs, abandoned })
}

describe('what a question costs', () => {
  it('is told where it is asked for, and is the same wherever it was evaluated', async () => {
    const plan = planDocument(snapshot, ['p', 'work'])
    const costs: CostMeasurements[] = []
    const options: EvaluateOptions = {
      nowMs: NOW_MS,
      wantsCost: true,
      spent: ({ fuel, packages }) => costs.push({ ...NO_COST, fuel, packages: [...packages] }),
    }
    for (const evaluations of [makeEvaluations(60_000), makeEvaluations(0)])
      await evaluations.document(plan, Buffer.from('{"n":30}'), options)
    expect(costs[0]).toEqual({ ...NO_COST, fuel: expect.any(Number) as number, packages: ['p'] })
    expect(costs[0]?.fuel).toBeGreaterThan(6000)
    expect(costs[1]).toEqual(costs[0])
  })

  it('is told of every sixteenth', async () => {
    let told = 0
    const slow = makeSlowEvaluations(startOnThisThread)
    const spent = (): void => void (told += 1)
    const evaluations = new Evaluations({ slow, sliceMs: 60_000, abandoned: () => undefined, spent })
    const plan = planDocument(snapshot, ['p', 'work'])
    for (let n = 0; n < 160; n += 1)
      await evaluations.document(plan, Buffer.from('{"n":1}'), { nowMs: NOW_MS })
    expect(told).toBe(10)
  })
})

describe('an evaluation that is left to a slow thread', () => {
  it('ends as on the thread that decides, whatever is asked', async () => {
    const direct = makeEvaluations(60_000)
    const slow = makeEvaluations(0)
    let compared = 0
    for (const path of PATHS) {
      const plan = planDocument(snapshot, path === '' ? [] : path.split('/'))
      for (const text of INPUTS) {
        const input = text === undefined ? undefined : Buffer.from(text)
        for (const strictBuiltinErrors of [false, true]) {
          const options: EvaluateOptions = { nowMs: NOW_MS, strictBuiltinErrors }
          const wanted = await outcome(() => direct.document(plan, input, options))
          expect(await outcome(() => slow.document(plan, input, options)), `${path} ${String(text)}`).toEqual(
            wanted,
          )
          const reasons = await outcome(() => direct.runtime(plan, input, options))
          expect(await outcome(() => slow.runtime(plan, input, options))).toEqual(reasons)
          compared += 2
        }
      }
    }
    expect(compared).toBeGreaterThan(400)
  })

  it('gives the reasons of static policies', async () => {
    const input = Buffer.from('{"n":11}')
    const reasons = await makeEvaluations(0).static(snapshot, ['static/q'], input, { nowMs: NOW_MS })
    expect(reasons).toEqual([{ packageName: 'static.q', text: '11 things' }])
  })

  it('names file and row of a conflict as the thread that decides does', async () => {
    const plan = planDocument(snapshot, ['p', 'function_conflict'])
    const asked = makeEvaluations(0).document(plan, Buffer.from('{"n":2}'), { nowMs: NOW_MS })
    await expect(asked).rejects.toMatchObject({
      details: [
        { code: 'eval_conflict_error', location: { file: expect.stringMatching(/p\.rego$/) as string } },
      ],
    })
  })

  it('reads its own copy of the input, which the caller may overwrite', async () => {
    const input = Buffer.from('{"text":"mine"}')
    const plan = planDocument(snapshot, ['p', 'plain', 'in'])
    const asked = makeEvaluations(0).document(plan, input, { nowMs: NOW_MS })
    input.fill(0)
    expect(await asked).toBe('{"text":"mine"}')
  })
})

describe('an evaluation within a slice', () => {
  it('is answered at once, without a promise, where it ends in time', () => {
    const plan = planDocument(snapshot, ['p', 'now'])
    const evaluations = makeEvaluations(15)
    expect(evaluations.document(plan, undefined, { nowMs: NOW_MS })).toBe(`${NOW_MS}000000`)
  })

  it('is given up when the slice is over, done again, and disturbs no later one', async () => {
    let abandoned = 0
    // A slice that is over at the first look at the clock, wherever in its work the evaluation is
    // then.
    const evaluations = makeEvaluations(Number.MIN_VALUE, () => (abandoned += 1))
    const direct = makeEvaluations(60_000)
    const options = { nowMs: NOW_MS }
    for (let n = 300; n < 1500; n += 60) {
      const input = Buffer.from(JSON.stringify({ n, text: 'x'.repeat(n) }))
      for (const rule of ['work', 'sorted', 'plain', 'conflict', 'deny', '']) {
        const plan = planDocument(snapshot, rule === '' ? ['p'] : ['p', rule])
        const wanted = await outcome(() => direct.document(plan, input, options))
        expect(await outcome(() => evaluations.document(plan, input, options))).toEqual(wanted)
      }
    }
    expect(abandoned).toBeGreaterThan(10)
  })

  it('leaves a large result to the slow thread, which puts it into order', async () => {
    let abandoned = 0
    const evaluations = makeEvaluations(1, () => (abandoned += 1))
    const input = Buffer.from(JSON.stringify({ text: 'x'.repeat(100_000) }))
    const plan = planDocument(snapshot, ['p', 'plain', 'in', 'text'])
    expect(await evaluations.document(plan, input, { nowMs: NOW_MS })).toBe(`"${'x'.repeat(100_000)}"`)
    expect(abandoned).toBe(1)
  })
})

describe('the turns of slow evaluations', () => {
  it('are those of the rule that is evaluated, however many paths below it are asked for', async () => {
    const keys = new Set<string>()
    const slow = {
      isFree: true,
      submit: ({ key }: { key: string }) => {
        keys.add(key)
        return { answer: Promise.resolve({ answer: undefined }), drop: () => undefined }
      },
    }
    const evaluations = new Evaluations({ slow, sliceMs: 0, abandoned: () => undefined })
    const ask = (path: readonly string[]) =>
      evaluations.document(planDocument(snapshot, path), undefined, { nowMs: NOW_MS, caller: 'ana' })
    for (let index = 0; index < 40; index += 1) await ask(['p', 'sorted', String(index)])
    expect(keys.size).toBe(1)
    await ask(['p', 'work'])
    expect(keys.size).toBe(2)
  })
})
