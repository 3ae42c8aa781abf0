import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICY = 'package p\nimport rego.v1\nanswer := product(input)\n'

test('a product of hundreds of digits is exact and does not affect later ones', async () => {
  const plan = planDocument(await loadPolicies({ 'p.rego': POLICY }), ['p', 'answer'])
  const productOf = (factors: readonly number[]): string | undefined =>
    evaluateDocument(plan, Buffer.from(JSON.stringify(factors)), newCall({}))
  for (const [factor, count] of [
    [10, 500],
    [10, 600],
    [9_999_999, 85],
    [9_999_999, 1000],
  ] as const) {
    expect(productOf(Array<number>(count).fill(factor))).toBe(String(BigInt(factor) ** BigInt(count)))
    expect(productOf([3, 4])).toBe('12')
  }
})
