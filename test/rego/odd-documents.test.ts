import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../support/load-policies.js'

test.each([
  ['a b', 'package p["a b"].c'],
  ['a;b', 'package p["a;b"].c'],
  ['a#b', 'package p["a#b"].c # why'],
  ['a`b', 'package p[ "a`b" ].c'],
])('the rules of a package with %j in its path are asked', async (name, line) => {
  const snapshot = await loadPolicies({
    'a.rego': `${line}\n\nimport rego.v1\n\ndeny contains "x" if true\n`,
  })
  const plan = planDocument(snapshot, ['p', name, 'c', 'deny'])
  expect(evaluateDocument(plan, undefined, newCall())).toBe('["x"]')
})

test('a null below a rule is a value, as it is to OPA', async () => {
  const snapshot = await loadPolicies({ 'a.rego': 'package p\n\na = {"b": null} { true }\n' })
  expect(evaluateDocument(planDocument(snapshot, ['p', 'a', 'b']), undefined, newCall())).toBe('null')
})
