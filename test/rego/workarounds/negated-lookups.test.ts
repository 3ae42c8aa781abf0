import { describe, expect, it, test } from 'vitest'

import { wrapLookups } from '../../../src/rego/workarounds/negated-lookups.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const LIMIT = { path: ['limits', 'prod'], isDynamic: false, isFunction: false, excludesData: true }

async function wrapped(text: string, version: 0 | 1 = 1, imports = 'import data.apps as A'): Promise<string> {
  const source = `${imports}\n\n${text}`
  const [module] = await wrapLookups(
    [{ file: 'a.rego', text: source, version, packagePath: ['a'], rules: [LIMIT] }],
    ['not', 'or'],
  )
  return module?.text.slice(source.length - text.length) ?? ''
}

describe('a lookup by a variable', () => {
  it.each([
    ['p if not data.apps[x].v', 'p if [[1 | data.apps[x].v], x] == [[], x]'],
    ['p if not A[input.x].v == 0', 'p if [[1 | A[input.x].v == 0], input.x] == [[], input.x]'],
    [
      'p if {\n\tnot limits[input.x]\n\t\t== f(y) with input.x as "prod" # why\n\tq\n}',
      'p if {\n\t[[1 | limits[input.x]\n\t\t== f(y)], input.x, f(y)] == [[], input.x, f(y)] with input.x as "prod" # why\n\tq\n}',
    ],
    ['p if not (data.apps[x].v) == (1)', 'p if [[1 | (data.apps[x].v) == (1)], x] == [[], x]'],
    [
      'p if {\n\tnot data.apps[x].v\n\tcontains(y, "z")\n}',
      'p if {\n\t[[1 | data.apps[x].v], x] == [[], x]\n\tcontains(y, "z")\n}',
    ],
    [
      'p if not (data.apps["x"][y] = 1) else := 2',
      'p if [[1 | (data.apps["x"][y] = 1)], y] == [[], y] else := 2',
    ],
    ['p if every x in {1} { data.apps[x].v; q }', 'p if every x in {1} { [1 | data.apps[x].v; q ] != []}'],
    [
      'p if every k, x in y { data.apps[x].v == k }',
      'p if every k, x in y { [1 | data.apps[x].v == k ] != []}',
    ],
    [
      'p if not walk(input.x, [["y", z], f(1)])',
      'p if [[1 | walk(input.x, [["y", z], f(1)])], input.x, [["y", z], f(1)]] == [[], input.x, [["y", z], f(1)]]',
    ],
    [
      'p if every x in y { not data.apps[x].v }',
      'p if every x in y { [1 | [[1 | data.apps[x].v], x] == [[], x] ] != []}',
    ],
  ])('below a negation is one in a comprehension: %s', async (text, expected) => {
    expect(await wrapped(text)).toBe(expected)
  })

  it.each([
    ['import data.apps\n\tas A', 'A'],
    ['import\n\n\tdata.apps as # why\n\tA', 'A'],
    ['import data["apps"]', 'apps'],
    ['import input.x import data.apps as A', 'A'],
  ])('begins with what is imported as in %j', async (imports, name) => {
    expect(await wrapped(`p if not ${name}[x].v`, 1, imports)).toBe(`p if [[1 | ${name}[x].v], x] == [[], x]`)
  })

  it.each([
    [
      'p { in := 1\n\tnot data.apps[x].v\n\tin == 1 }',
      'p { in := 1\n\t[[1 | data.apps[x].v], x] == [[], x]\n\tin == 1 }',
    ],
    [
      'p { not data.apps[x].v == input.in\n\tq }',
      'p { [[1 | data.apps[x].v == input.in], x] == [[], x]\n\tq }',
    ],
    ['every[x] { data.apps[x].v }', 'every[x] { data.apps[x].v }'],
  ])('is in an expression that ends where version 0 ends it: %j', async (text, expected) => {
    expect(await wrapped(text, 0)).toBe(expected)
  })

  it.each([
    ['p if not data.apps[x].v', 'p if [1 | data.apps[x].v] == []'],
    ['p if not f(data.apps[x].v) with input.x as 1', 'p if [1 | f(data.apps[x].v)] == [] with input.x as 1'],
    ['p if not { y := data.apps[x]; y.v }', 'p if not { [1 | y := data.apps[x]; y.v ] != []}'],
    ['p if not (data.apps[x].v or q) or r', 'p if [1 | (data.apps[x].v or q)] == [] or r'],
    ['p if not walk(input, [["x"], 1])', 'p if not walk(input, [["x"], 1])'],
  ])('stays within a negation of a body: %s', async (text, expected) => {
    expect(await wrapped(text, 1, 'import future.keywords')).toBe(expected)
  })

  it.each([
    'p if not data.apps.x.v == 0',
    'p if not data.apps["x"].v[0] == 0',
    'p if not input.x[y]\n\nq if data.apps[x].v',
    'p if not f(data.apps[x].v)',
    'p if not data.apps[x].v == 1 == true',
    'p if not 1 in y == data.apps[x].v',
    'p if not data.apps[x].v, 1 in y',
    'p if not data.apps[x].v < 1',
    'p if not [data.apps[x].v] == [0]',
    'p if every x in data.apps[input.y].v { x == 1 }',
    '# not data.apps[x].v\np := "not data.apps[x].v" if data.apps[x].not[y]',
  ])('stays as it is in %s', async (text) => {
    expect(await wrapped(text)).toBe(text)
  })
})

const POLICY = `package a

import rego.v1

limits.prod := 5

limits.dev := 10

flags.prod := false

flags.dev := true

answers contains "another limit" if not limits[input.env] == 5

answers contains "no flag" if not flags[input.env]

answers contains "another version" if not data.apps[input.app].version == 1

answers contains "not tested" if not data.apps[input.app].tested

answers contains "with another" if not data.apps[input.app].version == 1 with input.app as "shop"

answers contains "no such app" if not walk(input, [["app"], "shop"])

answers contains "no first app base" if not walk(input.apps, [[0], "base"])

answers contains "all at version 1" if every app in input.apps { data.apps[app].version == 1 }

answers contains "none tested" if every app in input.apps {
	not data.apps[app].tested
}
`

function app(name: string, version: number, tested: boolean): string {
  return `package apps.${name}\n\nimport rego.v1\n\nversion := ${version}\n\ntested := ${tested}\n`
}

// What OPA's own evaluator answers, 0.70 and 1.20.2 alike.
test.each([
  [{ env: 'prod', app: 'shop', apps: ['shop'] }, ['all at version 1', 'no first app base', 'no flag']],
  [
    { env: 'dev', app: 'cart', apps: ['base', 'shop'] },
    ['another limit', 'another version', 'no such app', 'not tested'],
  ],
  [
    { env: 'test', app: 'base', apps: ['cart'] },
    [
      'another limit',
      'another version',
      'no first app base',
      'no flag',
      'no such app',
      'none tested',
      'not tested',
    ],
  ],
  // Where the key is undefined, so is the negation.
  [{ apps: [] }, ['all at version 1', 'no first app base', 'no such app', 'none tested']],
  [{}, ['no such app']],
])('negations and every over %j look up as in OPA', async (input, expected) => {
  const snapshot = await loadPolicies({
    'a.rego': POLICY,
    'shop.rego': app('shop', 1, true),
    'cart.rego': app('cart', 2, false),
    'data.json': '{"apps": {"base": {"version": 3}}}',
  })
  const plan = planDocument(snapshot, ['a', 'answers'])
  expect(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall())).toBe(JSON.stringify(expected))
})

test('a variable that nothing gives a value is refused as OPA refuses it', async () => {
  const policies = { 'a.rego': 'package a\n\nimport rego.v1\n\np if not data.apps[x].version == 1\n' }
  await expect(loadPolicies({ ...policies, 'shop.rego': app('shop', 1, true) })).rejects.toMatchObject({
    details: [{ code: 'rego_unsafe_var_error', location: { row: 5 } }],
  })
})
