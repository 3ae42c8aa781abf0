import { expect, test } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { evaluateDocument, planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../support/load-policies.js'

test('the place of a failed evaluation is told below the directory of the policies, not where that stands', async () => {
  const snapshot = await loadPolicies({
    'team/conflict.rego': 'package p\n\nx = input.a\nx = input.b\n',
    'team/call.rego': 'package q\n\ny = yaml.unmarshal(input.text)\n',
  })
  const place = (path: readonly string[], strictBuiltinErrors: boolean): unknown => {
    try {
      const input = Buffer.from('{"a": 1, "b": 2, "text": "["}')
      return evaluateDocument(planDocument(snapshot, path), input, newCall({ strictBuiltinErrors }))
    } catch (raw) {
      return raw instanceof AppError ? raw.details[0]?.location?.file : raw
    }
  }
  expect(place(['p', 'x'], false)).toBe('team/conflict.rego')
  expect(place(['q', 'y'], true)).toBe('team/call.rego')
})

let calling: Promise<Snapshot> | undefined

/** Each rule calls a built-in that others also call. The location that OPA reports follows it. */
const CALLING = `package p

import rego.v1

a if {
	true; x := to_number(input.b)
	x == 1
}

b if to_number(input.b) == 1

c := concat(",", [upper(input.n), "x"])

d := [y | some v in input.l; y := to_number(v)]

e contains to_number(v) if some v in input.l

f if 1 / input.z > 0

g if {
	every v in input.l { to_number(v) > 0 }
}

h := to_number(
	input.b)

i if not to_number(input.b) == 2

j := [to_number(v) | some v in input.l; to_number(input.one) > 0]

k := 1 + (2 / input.z)

l if {
	input.n == 1
	not upper(input.n)
}

m := to_number(input.b) if {
	to_number(input.one) == 1
} else := to_number(input.one)

n if to_number(input.one) == 2

n if {
	1 == to_number(input.one)
	to_number(to_number(input.b)) == 2
}

q.r := to_number(input.one)

q.s := to_number(input.b)

t(x) := to_number(x) / 1

u := t(input.b)

v := (to_number(input.one) / to_number(input.one)) / (3 / input.z)

w if net.cidr_contains(input.b, "x")

x if net.cidr_contains("10.0.0.0/8", input.b)

y[k] := to_number(v) if some k, v in input.l
`

test.each([
  ['a', 6, 13],
  ['b', 10, 6],
  ['c', 12, 19],
  ['d', 14, 35],
  ['e', 16, 12],
  ['f', 18, 6],
  ['g', 21, 23],
  ['h', 24, 6],
  ['i', 27, 10],
  ['j', 29, 7],
  ['k', 31, 11],
  ['l', 35, 2],
  ['m', 38, 6],
  ['n', 46, 12],
  ['q/s', 51, 8],
  ['u', 53, 9],
  ['v', 57, 55],
  ['w', 59, 6],
  ['x', 61, 6],
  ['y', 63, 9],
])('the call that failed is told though others call the same built-in: %s', async (path, row, col) => {
  calling ??= loadPolicies({ 'calls.rego': CALLING })
  const snapshot = await calling
  const input = Buffer.from('{"b": "x", "n": 1, "one": "1", "l": ["q"], "z": 0}')
  const plan = planDocument(snapshot, ['p', ...path.split('/')])
  const evaluate = (): unknown => evaluateDocument(plan, input, newCall({ strictBuiltinErrors: true }))
  expect(evaluate).toThrow(
    expect.objectContaining({
      details: [expect.objectContaining({ location: { file: 'calls.rego', row, col } })],
    }),
  )
})

test.each([
  ['a value comes behind a call that reads it', 'to_number(x) > 0; x = input.b; to_number(input.one) == 1'],
  ['a pattern comes behind it', 'to_number(x) > 0; input.l = [x]; to_number(input.one) == 1'],
  ['an index comes behind it', 'to_number(j) > 0; input.o[j]; to_number(input.one) == 1'],
  ['values are replaced', 'to_number(input.one) == 1; to_number(input.b) > 0 with input.b as to_number("y")'],
])('no place is told where %s: the calls are made in another order', async (_, body) => {
  const snapshot = await loadPolicies({ 'p.rego': `package p\n\nimport rego.v1\n\na if { ${body} }\n` })
  const input = Buffer.from('{"b": "x", "one": "1", "l": ["q"], "o": {"k": 1}}')
  const evaluate = (): unknown =>
    evaluateDocument(planDocument(snapshot, ['p', 'a']), input, newCall({ strictBuiltinErrors: true }))
  expect(evaluate).toThrow(
    expect.objectContaining({
      details: [expect.not.objectContaining({ location: expect.anything() as object })],
    }),
  )
})
