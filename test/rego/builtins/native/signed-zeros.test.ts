import { beforeAll, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../../support/load-policies.js'

let snapshot: Snapshot

beforeAll(async () => {
  const rules = [
    'times := input.a * input.b',
    'quotient := input.a / input.b',
    'together := product([input.a, input.b])',
  ]
  snapshot = await loadPolicies({ 'p.rego': `package p\n\n${rules.join('\n\n')}\n` })
})

/** Results of OPA 1.20.2. */
test.each([
  ['quotient', '0', '-5', '-0'],
  ['quotient', '-0', '5', '-0'],
  ['quotient', '-0', '-5', '0'],
  ['times', '0', '-2.5', '-0'],
  ['times', '-0', '2.5', '-0'],
  ['times', '-0', '-2.5', '0'],
  ['times', '-0', '-5', '0'],
  ['together', '-0', '1.5', '-0'],
  ['together', '-0', '-1.5', '0'],
  ['together', '-0', '3', '0'],
])('%s of %s and %s is %s', (rule, a, b, answer) => {
  const input = Buffer.from(`{"a": ${a}, "b": ${b}}`)
  expect(evaluateDocument(planDocument(snapshot, ['p', rule]), input, newCall())).toBe(answer)
})
