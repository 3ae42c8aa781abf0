import { beforeAll, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../../src/rego/snapshot/snapshot.js'
import { EvaluationAbort, describeFailure } from '../../../../src/rego/wasm/module/evaluation-abort.js'
import { loadPolicies } from '../../../support/load-policies.js'

const POLICY = `package p
import rego.v1
compared if input.x > 1
sorted := sort([input.x, 1.5])
summed := input.x + 0.5
`
let snapshot: Snapshot
beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICY })
})

function trap(): Error {
  return Object.assign(new Error('unreachable'), { name: 'RuntimeError' })
}

test('a trap is a limit if memory or stack are used up, else a fault', () => {
  expect(describeFailure(trap(), 'memory')).toMatchObject({ isOverBudget: true, message: 'out of memory' })
  expect(describeFailure(trap(), 'stack')).toMatchObject({ isOverBudget: true, message: 'stack exhausted' })
  expect(describeFailure(trap())).toMatchObject({ isOverBudget: false, message: 'unreachable' })
  expect(describeFailure(new RangeError('Maximum call stack size exceeded'))).toMatchObject({
    isOverBudget: true,
  })
  const corrupt = new EvaluationAbort('opa_malloc: corrupted heap')
  expect(describeFailure(corrupt)).toMatchObject({ isOverBudget: false })
})

test.each(['compared', 'sorted', 'summed'])(
  'a number beyond what the runtime calculates with ends %s as an exceeded budget',
  (rule) => {
    const plan = planDocument(snapshot, ['p', rule])
    const input = Buffer.from('{"x":1e999999999}')
    expect(() => evaluateDocument(plan, input, newCall({ strictBuiltinErrors: false }))).toThrow(
      expect.objectContaining({ code: 'evaluation_budget_exceeded' }),
    )
  },
)
