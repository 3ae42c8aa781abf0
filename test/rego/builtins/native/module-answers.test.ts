import { expect, it } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../../support/load-policies.js'

/** Results of OPA 1.20.2 that differ from the module's own. */
const CALLS: readonly (readonly [call: string, input: unknown, answer: unknown])[] = [
  ['json.marshal(input)', { n: 'x<y>&' }, '{"n":"x\\u003cy\\u003e\\u0026"}'],
  ['json.marshal(input)', { '<': 'é\u2028\u2029' }, '{"\\u003c":"é\\u2028\\u2029"}'],
  ['json.marshal({x | some x in input})', ['b', 'a', 2, 1.5], '[1.5,2,"a","b"]'],
  ['object.union_n(input)', [], {}],
  ['object.union_n(input)', [{ a: { b: 1 } }, { a: { c: 2 } }], { a: { b: 1, c: 2 } }],
]

it('native built-ins have the results of OPA where the module differs', async () => {
  const rules = CALLS.map(([call], index) => `r${index} := ${call}`)
  const snapshot = await loadPolicies({ 'p.rego': `package p\n\nimport rego.v1\n\n${rules.join('\n')}\n` })
  const answers = CALLS.map(([, input], index) => {
    const plan = planDocument(snapshot, ['p', `r${index}`])
    const text = evaluateDocument(
      plan,
      Buffer.from(JSON.stringify(input)),
      newCall({ strictBuiltinErrors: false }),
    )
    return JSON.parse(text ?? 'null') as unknown
  })
  expect(answers).toEqual(CALLS.map(([, , answer]) => answer))
})
