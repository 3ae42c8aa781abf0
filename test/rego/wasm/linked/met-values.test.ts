import { describe, expect, test } from 'vitest'

import { AppError } from '../../../../src/errors/app-error.js'
import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../../support/load-policies.js'

/** Each sets `r.x` to a value, and then sets a member or element of that value. */
const MEETING = {
  'an object made of a longer path': 'r[input.k] contains "more"\n\nr.x.b := {"c": 1}\n',
  'an object with a number in it': 'r[input.k] contains 1\n\nr.x.b := 5\n',
  'the text in a set': 'r[input.k] contains "b"\n\nr["x"].b contains 1\n',
  'a number below a path': 'r[input.k].b contains 1\n\nr.x.b.c.d := 5\n',
}

describe('where rules of several lengths meet, nothing is written into another value', () => {
  test.each(Object.entries(MEETING))('%s: the decision ends with a conflict', async (_, rules) => {
    const text = `package p\n\nimport rego.v1\n\n${rules}\nread if r\n\ncalm := input.k\n`
    const snapshot = await loadPolicies({ 'p.rego': text })
    const ask = (rule: string, input: string): unknown => {
      try {
        return evaluateDocument(planDocument(snapshot, ['p', rule]), Buffer.from(input), newCall())
      } catch (raw) {
        return raw instanceof AppError ? raw.details : raw
      }
    }
    const conflict = [{ code: 'eval_conflict_error', message: 'object keys must be unique' }]
    for (const rule of ['r', 'read']) {
      expect(ask(rule, '{"k": "x"}')).toEqual(conflict)
      expect(ask('calm', '{"k": "x"}')).toBe('"x"')
      // Otherwise they are unrelated.
      expect(ask(rule, '{"k": "y"}')).toBeTypeOf('string')
    }
  })
})
