import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import type { DocumentPlan } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../../support/load-policies.js'

const POLICY = `package p
import rego.v1
own := ["a", "b", "c"]
answer.own := own[input.at]
answer.data := data.list[input.at]
answer.input := input.list[input.at]
answer.path := object.get(input, ["list", input.at], "none")
answer.at := input.at
`

let plan: DocumentPlan
beforeAll(async () => {
  const files = { 'p.rego': POLICY, 'data.json': '{"list": ["a", "b", "c"]}' }
  plan = planDocument(await loadPolicies(files), ['p', 'answer'])
})

const answer = (at: string): string | undefined =>
  evaluateDocument(plan, Buffer.from(`{"at": ${at}, "list": ["a", "b", "c"]}`), newCall())

describe('an index', () => {
  test.each([
    ['0.0', 'a'],
    ['-0.0', 'a'],
    ['1', 'b'],
    ['1.0', 'b'],
    ['2.000', 'c'],
  ])('finds an element however an integer is written, as in OPA: %s', (at, element) => {
    expect(JSON.parse(answer(at) ?? '{}')).toMatchObject({
      own: element,
      data: element,
      input: element,
      path: element,
    })
    expect(answer(at)).toContain(`"at":${at}`)
  })

  test.each([
    '3.0',
    '-1.0',
    '1.5',
    '1e0',
    '10E-1',
    '1.0000000000000001',
    '4294967297.0',
    '99999999999999999999.0',
  ])('finds none, as in OPA: %s', (at) => {
    expect(JSON.parse(answer(at) ?? '{}')).toMatchObject({ path: 'none' })
    expect(answer(at)).not.toMatch(/"(?:own|data|input)"/)
  })
})
