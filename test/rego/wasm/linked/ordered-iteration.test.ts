import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../../src/rego/evaluation/new-call.js'
import { parseRegoText } from '../../../../src/rego/values/parse-text.js'
import { printGoJson } from '../../../../src/rego/values/print-go-json.js'
import { printJson } from '../../../../src/rego/values/print-text.js'
import { RegoSet } from '../../../../src/rego/values/value.js'
import type { RegoValue } from '../../../../src/rego/values/value.js'
import type { Snapshot } from '../../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../../support/load-policies.js'

const POLICY = `package p

import rego.v1

members contains x if some x in input.list

in_order := [x | some x in members]

keys := [k | some k, _ in input.object]

values := [v | some v in input.object]

pairs := [[a, b] | some a in members; some b in members]

texts := concat(", ", [k | some k, _ in data.limits])

walked := [path | walk(input.object, [path, _])]

settings := [k | some k, _ in data.limits]

grown := [x | some x in (members | {"one more"})]

of_pairs := [x | some x in {[k, v] | some k, v in input.object}]

deny contains message if {
	missing := {k | some k, _ in data.limits} - {"b"}
	message := sprintf("missing: %s", [concat(", ", missing)])
}
`
const NAMES = ['zeta', 'b', 'alpha', 'a10', 'a2', 'ä', 'Z', '', '0']

let snapshot: Snapshot
beforeAll(async () => {
  const limits = Object.fromEntries(NAMES.map((name, index) => [name, index]))
  snapshot = await loadPolicies({ 'p.rego': POLICY, 'limits/data.json': JSON.stringify(limits) })
})

function ask(rule: string, input: string): string | undefined {
  return evaluateDocument(planDocument(snapshot, ['p', rule]), Buffer.from(input), newCall())
}

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(1.5, 1e21, -0.25),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('common prefix a', 'common prefix b', 'common prefix'),
)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.string({ maxLength: 3 }), scalar, { maxKeys: 3 }) },
)

describe("collections are iterated in Rego's order", () => {
  test('sets of any values', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (list) => {
        const input = `{"list":${JSON.stringify(list)}}`
        const { members } = new RegoSet(parseRegoText(JSON.stringify(list)) as RegoValue[])
        expect(ask('in_order', input)).toBe(printGoJson(members))
      }),
      { numRuns: 200 },
    )
  })

  test('objects of any keys, with their values', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 20 }), scalar, { maxKeys: 60 }),
        (object) => {
          const input = `{"object":${JSON.stringify(object)}}`
          const sorted = Object.keys(object).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          expect(ask('keys', input)).toBe(printGoJson(sorted))
          expect(ask('values', input)).toBe(
            printGoJson(sorted.map((key) => parseRegoText(JSON.stringify(object[key])))),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  test.each([7, 8, 9, 16, 17, 100, 5000])('a set of %i', (size) => {
    const list = Array.from({ length: size }, (_, index) => `name ${(index * 7919) % size}`)
    expect(ask('in_order', JSON.stringify({ list }))).toBe(JSON.stringify([...list].sort()))
  })

  test('a set within itself, and a set that extends another', () => {
    const input = '{"list":["c","a","b"]}'
    const pairs = ['a', 'b', 'c'].flatMap((one) => ['a', 'b', 'c'].map((other) => [one, other]))
    expect(ask('pairs', input)).toBe(JSON.stringify(pairs))
    expect(ask('grown', input)).toBe('["a","b","c","one more"]')
  })

  test('base documents, on every access', () => {
    const sorted = [...NAMES].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (let time = 0; time < 3; time++) {
      expect(ask('settings', '{}')).toBe(JSON.stringify(sorted))
      expect(ask('texts', '{}')).toBe(JSON.stringify(sorted.join(', ')))
    }
  })

  test('the results of walk, and arrays in sets', () => {
    const input = '{"object":{"b":{"y":1,"x":[2,3]},"a":null}}'
    expect(ask('walked', input)).toBe('[[],["a"],["b"],["b","x"],["b","x",0],["b","x",1],["b","y"]]')
    expect(ask('of_pairs', '{"object":{"b":1,"a":2,"c":0}}')).toBe('[["a",2],["b",1],["c",0]]')
  })

  test('the names in a denial', () => {
    const others = NAMES.filter((name) => name !== 'b').sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    )
    expect(ask('deny', '{}')).toBe(printJson([`missing: ${others.join(', ')}`]))
  })
})

test('the next evaluation does not see values of the previous one', () => {
  expect(ask('in_order', '{"list":["b","a"]}')).toBe('["a","b"]')
  expect(ask('in_order', '{"list":["d","c"]}')).toBe('["c","d"]')
  expect(ask('keys', '{"object":{"b":1,"a":2}}')).toBe('["a","b"]')
  expect(ask('keys', '{"object":{"d":1,"c":2}}')).toBe('["c","d"]')
})

test('a policy without built-ins iterates in order, too', async () => {
  const plain = await loadPolicies({
    'p.rego': 'package p\n\nimport rego.v1\n\nkeys := [k | some k, _ in input]\n',
  })
  const plan = planDocument(plain, ['p', 'keys'])
  expect(evaluateDocument(plan, Buffer.from('{"c":1,"a":2,"b":3}'), newCall())).toBe('["a","b","c"]')
})

test('large base documents stay sorted between evaluations', async () => {
  const keys = Array.from({ length: 500 }, (_, index) => `key ${(index * 7919) % 500}`)
  const large = Object.fromEntries(keys.map((key) => [key, key]))
  const policies = await loadPolicies({
    'p.rego': [
      'package p\nimport rego.v1\n',
      'outer := [k | some k, _ in data.large]\n',
      'inner := [k | some k, _ in data.nested.large]\n',
      'both := [[a, b] | some a, _ in data.small; some b, _ in data.large; a == b]\n',
      'own := [x | some x in input.list]\n',
    ].join('\n'),
    'large/data.json': JSON.stringify(large),
    'nested/data.json': JSON.stringify({ large }),
    'small/data.json': JSON.stringify({ 'key 7': 1, 'key 10': 2 }),
  })
  const sorted = JSON.stringify([...keys].sort())
  const ask = (rule: string, input = '{}'): string | undefined =>
    evaluateDocument(planDocument(policies, ['p', rule]), Buffer.from(input), newCall())
  for (let time = 0; time < 3; time++) {
    expect(ask('outer')).toBe(sorted)
    expect(ask('own', JSON.stringify({ list: keys }))).toBe(JSON.stringify(keys))
    expect(ask('inner')).toBe(sorted)
    expect(ask('both')).toBe('[["key 10","key 10"],["key 7","key 7"]]')
  }
})
