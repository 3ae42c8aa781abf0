import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import type { DocumentPlan } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../../support/load-policies.js'

const POLICY = `package p
import rego.v1
many := numbers.range(-300, 300)
listed := {n | some n in array.concat(many, [input.there])}
answer.inSet if listed[input.asked]
answer.inList if {[n] | some n in listed}[[input.asked]]
answer.inObject if {n: true | some n in listed}[input.asked]
answer.inSmallSet if {22, 80, input.there, 443}[input.asked]
answer.isLeft if count({input.asked} - listed) > 0
answer.isOne if count({input.there, input.asked}) == 1
`
const EQUAL = { inSet: true, inList: true, inObject: true, inSmallSet: true, isOne: true }
const UNEQUAL = { isLeft: true }

let plan: DocumentPlan
beforeAll(async () => {
  plan = planDocument(await loadPolicies({ 'p.rego': POLICY }), ['p', 'answer'])
})

function answer(there: string, asked: string): unknown {
  const input = Buffer.from(`{"there": ${there}, "asked": ${asked}}`)
  return JSON.parse(evaluateDocument(plan, input, newCall({})) ?? 'null')
}

describe('a number', () => {
  test.each([
    ['100', '1000e-1', '0.00001e7', '1e2', '100.0', '0.1E+3', '1000000000000000000000e-19'],
    ['0', '-0', '0.0', '-0.0e5', '0e-7', '0E99999'],
    ['-7', '-70e-1', '-0.7e1', '-7.00'],
    ['0.1', '1e-1', '0.10', '100e-3'],
    ['1e-7', '0.0000001', '100e-9'],
    ['9223372036854775807', '9223372036854775807.0', '9.223372036854775807e18'],
    ['-9223372036854775808', '-9.223372036854775808e18', '-92233720368547758080e-1'],
    ['9223372036854775808', '9.223372036854775808e18'],
    ['18446744073709551616', '1.8446744073709551616e19', '184467440737095516160e-1'],
    ['1e400', '10e399', '0.01E+402'],
    ['1234567890123456789000', '1.234567890123456789e21', '12345678901234567890e2'],
  ])('is found in sets and as a key however %s is written', (...spellings) => {
    for (const there of spellings)
      for (const asked of spellings)
        expect([there, asked, answer(there, asked)]).toEqual([there, asked, EQUAL])
  })

  test.each([
    ['1000.5', '1000'],
    ['1001', '1001e-1'],
    ['9223372036854775807', '-9223372036854775807'],
    ['1e-300', '1e-301'],
  ])('differs from other numbers: %s and %s', (there, asked) => {
    expect(answer(there, asked)).toEqual(UNEQUAL)
  })
})
