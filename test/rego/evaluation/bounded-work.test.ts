import { describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { EvaluationSlice, SliceOver } from '../../../src/rego/wasm/evaluation-budget.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICY = 'package shop.limits\n\nimport rego.v1\n\nallow if input.ok\n'
const MANY = 20_000
const keys = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`k${index}`, index]))

/** A slice that is over at the second look at the clock, however coarse the machine's CPU time is. */
const shortCall = () => {
  let readings = 0
  return newCall({ slice: new EvaluationSlice(1e-6, () => readings++) })
}

describe('a path of thousands of segments', () => {
  test.each([
    ['nowhere', ''],
    ['below a package', 'shop/limits/'],
    ['below a rule', 'shop/limits/allow/'],
    ['below a base document', 'roles/'],
  ])('is planned by looking up no more than there are names: %s', async (_, start) => {
    const snapshot = await loadPolicies({ 'p.rego': POLICY, 'data.json': '{"roles":{"a":1}}' })
    let lookups = 0
    const entrypoints = new Map(snapshot.entrypoints)
    entrypoints.get = (key) => {
      lookups += 1
      return snapshot.entrypoints.get(key)
    }
    const path = [...start.split('/').filter(Boolean), ...new Array<string>(8000).fill('a')]
    const plan = planDocument({ ...snapshot, entrypoints }, path)
    expect(evaluateDocument(plan, undefined, newCall())).toBeUndefined()
    expect(lookups).toBeLessThan(20)
  })
})

describe('a base document that is asked for by its path', () => {
  const load = () =>
    loadPolicies({
      'p.rego': POLICY,
      'data.json': JSON.stringify({ keys, list: Object.values(keys), few: { a: 1 } }),
    })

  test.each(['keys', 'list'])('is given up within a slice when it is large: %s', async (name) => {
    const plan = planDocument(await load(), [name])
    expect(() => evaluateDocument(plan, undefined, shortCall())).toThrow(SliceOver)
    expect(JSON.parse(evaluateDocument(plan, undefined, newCall()) ?? '')).toHaveProperty(
      name === 'keys' ? 'k19999' : '19999',
      MANY - 1,
    )
  })

  test('is answered within it when it is small, however much there is next to it', async () => {
    const snapshot = await load()
    expect(evaluateDocument(planDocument(snapshot, ['few']), undefined, shortCall())).toBe('{"a":1}')
    expect(evaluateDocument(planDocument(snapshot, ['keys', 'k7']), undefined, shortCall())).toBe('7')
  })
})

describe('a document of packages and much data', () => {
  const RULES =
    'package shop.limits\n\nimport rego.v1\n\nallow if input.ok\n\nf(x) := x\n\nnames contains "a"\n\ndeny.late := "late" if input.late\n'
  const load = (bytes: number) =>
    loadPolicies({
      'p.rego': RULES,
      'q.rego': 'package shop.limits.deep\n\nimport rego.v1\n\nn := count(data.roles)\n',
      'r.rego': 'package other\n\nimport rego.v1\n\nnone if input.none\n',
      'data.json': JSON.stringify({
        roles: { a: ['x'.repeat(bytes)] },
        shop: { open: true, limits: { most: 3 } },
        system: { secret: 1 },
      }),
    })

  test.each([[[]], [['shop']], [['shop', 'limits']], [['shop', 'limits', 'deny']], [['other']]])(
    'is what it is with little: %j',
    async (path) => {
      const [little, much] = [await load(10), await load(2_000_000)]
      const input = Buffer.from('{"ok":true}')
      const answer = (snapshot: typeof little) =>
        evaluateDocument(planDocument(snapshot, path), input, newCall())?.replace(/x{3,}/, 'xs')
      expect(answer(much)).toBe(answer(little))
      expect(answer(much)).not.toContain('secret')
    },
  )

  test('has documents within a package, which verdicts are read from, be answered by their module', async () => {
    const plan = planDocument(await load(2_000_000), ['shop', 'limits', 'deny'])
    expect(plan.target).toBeDefined()
    expect(evaluateDocument(plan, Buffer.from('{}'), newCall())).toBe('{}')
    expect(evaluateDocument(plan, Buffer.from('{"late":true}'), newCall())).toBe('{"late":"late"}')
  })

  test('is not copied, printed and read again by a module', async () => {
    expect(planDocument(await load(2_000_000), []).target).toBeUndefined()
    expect(planDocument(await load(10), []).target).toBeDefined()
  })
})
