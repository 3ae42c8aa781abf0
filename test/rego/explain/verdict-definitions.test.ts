import { expect, test } from 'vitest'

import { definitionsOfReason, verdictDefinitions } from '../../../src/rego/explain/verdict-definitions.js'

const POLICY = `package static.a

import rego.v1

deny contains "is closed" if input.closed

deny contains text if {
	text := sprintf("stage '%s' waits %d s (at most 60)", [input.name, input.wait])
}

prod.deny contains refusal(input)

allow if input.ok
`

const rowsOf = (name: string, reason: string): number[] => {
  const definitions = verdictDefinitions([{ file: 'a.rego', text: POLICY }])
  return definitionsOfReason(definitions, name, reason).map(({ row }) => row)
}

test('a reason belongs to the definition with its text', () => {
  expect(rowsOf('static.a', 'is closed')).toEqual([5])
  expect(rowsOf('static.a', "stage 'x' waits 70 s (at most 60)")).toEqual([7])
  expect(rowsOf('static.a', 'static.a.allow is not true')).toEqual([13])
})

test('a text that is made elsewhere may belong to every definition of the package', () => {
  expect(rowsOf('static.a.prod', 'something else')).toEqual([11])
  expect(rowsOf('static.a', 'something else')).toEqual([5, 7, 13])
})
