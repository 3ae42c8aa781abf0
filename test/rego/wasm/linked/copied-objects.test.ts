import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../../support/load-policies.js'

const POLICY = `package p

import rego.v1

value := input

member := x if {
	x := value with input.a as 5
}

nested := x if {
	x := value with input.a.b as null
}

after := [x, value] if {
	x := value with input.a as 5
}
`

let snapshot: Snapshot
beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICY })
})

const ask = (rule: string, input: string | undefined): string | undefined =>
  evaluateDocument(
    planDocument(snapshot, ['p', rule]),
    input === undefined ? undefined : Buffer.from(input),
    newCall(),
  )

describe('a member of the input is replaced', () => {
  test.each(['3', '"text"', 'true', 'null', '[1,2]', '1e400', '""'])(
    'where the input is %s: by an object',
    (input) => {
      expect(ask('member', input)).toBe('{"a":5}')
      expect(ask('nested', input)).toBe('{"a":{"b":null}}')
      // The input itself is unchanged.
      expect(ask('after', input)).toBe(`[{"a":5},${input}]`)
    },
  )

  test('where the input is an object, next to its other members', () => {
    expect(ask('member', '{"a":1,"z":2}')).toBe('{"a":5,"z":2}')
    expect(ask('nested', '{"a":"text"}')).toBe('{"a":{"b":null}}')
    expect(ask('nested', '{"a":{"c":1}}')).toBe('{"a":{"b":null,"c":1}}')
  })

  test('where there is none', () => {
    expect(ask('member', undefined)).toBe('{"a":5}')
  })
})
