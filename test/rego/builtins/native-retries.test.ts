import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICY = `package p
import rego.v1
number := to_number(input)
match := regex.match(input.pattern, input.text)
groups := regex.find_all_string_submatch_n(input.pattern, input.text, -1)
`
let snapshot: Snapshot
beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICY })
})

function answer(rule: string, input: unknown, strictBuiltinErrors: boolean): string | undefined {
  const plan = planDocument(snapshot, ['p', rule])
  return evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall({ strictBuiltinErrors }))
}

describe.each([true, false])('where a native built-in gives up and OPA goes on, strict %s', (isStrict) => {
  test.each([
    ['+9999', '9999'],
    ['-9_999', '-9999'],
    ['1e5_0', '1e50'],
    ['0x1p20', '1048576'],
    ['0x_1.8p1', '3'],
    ['-0x1p-2', '-0.25'],
  ])('the number in %j is %s', (text, number) => {
    expect(answer('number', text, isStrict)).toBe(number)
  })

  test('a pattern with a named group in angle brackets matches', () => {
    const input = { pattern: '^(?<env>prod)-(x)?', text: 'prod-eu' }
    expect(answer('match', input, isStrict)).toBe('true')
    expect(answer('groups', input, isStrict)).toBe('[["prod-","prod",""]]')
  })
})

test.each(['', '_1', '1_', '1__0', '0x10', '0x1p99999', 'inf', 'NaN', '+-1', ' 1'])(
  'no number is read in %j, nor by OPA',
  (text) => {
    expect(answer('number', text, false)).toBeUndefined()
  },
)
