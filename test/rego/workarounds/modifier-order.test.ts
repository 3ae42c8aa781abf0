import { describe, expect, it, test } from 'vitest'

import { orderModifiers } from '../../../src/rego/workarounds/modifier-order.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

async function ordered(text: string): Promise<string> {
  const [module] = await orderModifiers([{ file: 'a.rego', text, version: 1, packagePath: ['a'], rules: [] }])
  return module?.text ?? ''
}

describe('the modifiers of an expression', () => {
  it.each([
    ['p if q with time.now_ns as 5 with data.d as 1', 'p if q with data.d as 1 with time.now_ns as 5'],
    ['p if q with data.f as g with input as {"a": [1]}', 'p if q with input as {"a": [1]} with data.f as g'],
    [
      'p if {\n\tq with http.send as mock # why\n\t\twith input.a as {\n\t\t\t"b": 1,\n\t\t}\n\t\twith data.d as f(1)[0].x\n\tr\n}',
      'p if {\n\tq with input.a as {\n\t\t\t"b": 1,\n\t\t} # why\n\t\twith data.d as f(1)[0].x\n\t\twith http.send as mock\n\tr\n}',
    ],
    [
      'import data.lib as l\n\np := [x | x := q with time.now_ns as 1 with l.d as "with"; true]',
      'import data.lib as l\n\np := [x | x := q with l.d as "with" with time.now_ns as 1; true]',
    ],
    [
      'p := x if { x := q with f as 1 with data.d as 2 + 3 } else := 2',
      'p := x if { x := q with data.d as 2 + 3 with f as 1 } else := 2',
    ],
    [
      'p := $"{input.x}" if q with f as $"`\n" with data.d as 2',
      'p := $"{input.x}" if q with data.d as 2 with f as $"`\n"',
    ],
    [
      'import data.lib as l\n\np := $`a\n{[x | x := $"{l.y}" with f as 1 with l.d as 2]} with {{q | q with g as 1 with input as $"}"}}`',
      'import data.lib as l\n\np := $`a\n{[x | x := $"{l.y}" with l.d as 2 with f as 1]} with {{q | q with input as $"}" with g as 1}}`',
    ],
  ])('of %s begin with documents', async (text, expected) => {
    expect(await ordered(text)).toBe(expected)
  })

  it.each([
    'p if q with input as 1 with data.d as 2 with time.now_ns as 3',
    'p if { q with time.now_ns as 3\n\tr with input as 1 }',
    'p if q with time.now_ns as 3\n\nr if q with input as 1',
    'p if { q with f as {x | x := 1 with input as 2} }',
    'import data.lib\n\np if q with lib.a as 1 with data.d as 2',
    'import data.x\n\np.with := 1 if { q.with with f as 1 }\n\nr if q with input as 2',
    'p := $"with f as 1 with input as {input.a} with g as 1 with data.d as 2" if q with input as 1',
    '# with f as 1 with input as 2\np := "with f as 1 with input as 2"',
  ])('stay as they are in %s', async (text) => {
    expect(await ordered(text)).toBe(text)
  })
})

const POLICY = `package a

import rego.v1

import data.lib

g(x) := {"i": input.a, "t": time.now_ns(), "x": x, "d": data.d.q}
before_data := x if { x := g(1) with time.now_ns as 5 with data.d.q as 7 }
before_both := x if { x := g(1) with time.now_ns as 5 with data.d.q as 7 with input.a as 8 }
own := x if { x := {"f": lib.twice(4), "i": input.a, "d": data.d.q} with data.lib.twice as 3 with input as {"a": 2} }
told := x if { x := $"{g(data.d.q).d}" with time.now_ns as 5 with data.d.q as 7 }
imported := x if { x := {"f": lib.twice(4), "t": time.now_ns()} with time.now_ns as 5 with lib.twice as 3 }
`

test('documents that are replaced behind functions are replaced, and no others', async () => {
  const snapshot = await loadPolicies({
    'a.rego': POLICY,
    'lib.rego': 'package lib\n\nimport rego.v1\n\ntwice(x) := 2 * x\n',
    'data.json': '{"d": {"q": 1}}',
  })
  const answer = evaluateDocument(planDocument(snapshot, ['a']), Buffer.from('{"a":0}'), newCall())
  expect(JSON.parse(answer ?? '')).toEqual({
    before_data: { i: 0, t: 5, x: 1, d: 7 },
    before_both: { i: 8, t: 5, x: 1, d: 7 },
    told: '7',
    own: { f: 3, i: 2, d: 1 },
    imported: { f: 3, t: 5 },
  })
})
