import fc from 'fast-check'
import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { loadPolicies } from '../../support/load-policies.js'

/**
 * JSON texts of every kind of value, including numbers just below and above each change of
 * representation.
 */
const TEXTS: readonly string[] = [
  ...['null', 'true', 'false', '""', '"a"', '"\\u0000"', '"ä€😀"', '"1"', '"7.50"', '[]', '{}'],
  ...['0', '-0', '1', '-1', '1.0', '1e0', '10', '1e1', '0.1', '-0.25', '1.50', '100', '1E+2', '12e-1'],
  ...['999999999', '-999999999', '1000000000', '2147483647', '2147483648', '-2147483648', '-2147483649'],
  ...['4294967295', '4294967296', '-4294967297', '999999999999999', '1000000000000000', '9007199254740993'],
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '123456789012345678901234567890'],
  ...['[0]', '[1,null,"a"]', '[1.0,null,"a"]', '[[],{}]', '{"a":1}', '{"a":1.0}', '{"a":4294967296}'],
  ...['{"b":[1,{"c":null}],"a":false}', '[4294967296]', '[4294967297,"ä"]', '{"":"","ä":{"a":[]}}'],
]

/** Expressions over two values. */
const EXPRESSIONS: readonly string[] = [
  ...['a', 'a == b', 'a < b', 'a <= b', 'sort([a, b])', 'max([a, b])', 'min([a, b])', 'type_name(a)'],
  ...['a in {b}', 'a in [[], b]', 'b in {"k": a}', '{a, b}', '{a} & {b}', '{a} | {b}', '{a} - {b}'],
  ...['count({a, b, [a], [b], {"x": a}, {"x": b}})', '{a: 1}[b]', '{[a]: 1}[[b]]', '{{"x": a}: 1}[{"x": b}]'],
  ...['{a: b}', 'object.get({a: "found"}, b, "none")', 'a[b]', '[10, 11, 12][a]', '{x | some x, _ in a}'],
  ...[
    'a + b',
    'a - b',
    'a * b',
    'a / b',
    'a % b',
    'abs(a)',
    'round(a)',
    'ceil(a)',
    'floor(a)',
    'a * 1000 - a',
  ],
  ...[
    'sum([a, b])',
    'product([a, b])',
    'bits.and(a, b)',
    'bits.or(a, 1)',
    'bits.negate(a)',
    'bits.lsh(a, 3)',
  ],
  ...['to_number(a)', 'format_int(a, 10)', 'format_int(a, 16)', 'sprintf("%v|%d|%s", [a, a, a])'],
  ...['json.marshal([a, b])', 'concat(",", [a, b])', 'concat(",", {a, b})', 'upper(a)', 'split(a, b)'],
  ...['startswith(a, b)', 'substring(a, 0, b)', 'object.union(a, b)', 'array.concat(a, b)', 'count(a)'],
  ...['array.slice([1, 2, 3], a, 3)', 'array.reverse(a)', 'object.keys(a)', 'object.remove(a, ["a"])'],
  ...['object.filter(a, ["a"])', 'json.filter(a, ["a", "b/0"])', 'json.remove(a, ["a", "b/0"])'],
]

/**
 * Compares a value that the module's own parser reads with the same value from all other sources;
 * `returned` and `within` come from the host.
 */
const POLICY = `package p
import rego.v1
written := [${TEXTS.join(', ')}]
ways(n) := {
  "parsed": json.unmarshal(concat("", [input.texts[n], " "])),
  "written": written[n],
  "input": input.values[n],
  "data": data.values[n],
  "returned": json.unmarshal(concat("", ["\\n", input.texts[n]])),
  "within": json.patch({"v": [null]}, [{"op": "replace", "path": "/v/0", "value": input.values[n]}]).v[0],
}
answers[i] := found if {
  some i, [m, n] in input.pairs
  found := {name: outcome(a, b) |
    some way, a in ways(m)
    some other in ["parsed", "data", "returned"]
    b := ways(n)[other]
    name := concat(" ", [way, other])
  }
}
outcome(a, b) := [
${EXPRESSIONS.map((expression) => `  [x | x := ${expression}],`).join('\n')}
]
`
const RANDOM_PAIRS = 16
const SEED = 20_261_122

function membersOf(value: RegoValue | undefined): RegoObject['entries'] {
  return value instanceof RegoObject ? value.entries : []
}

/** Returns the results that differ from those for values that the module itself parsed. */
function differences(outcomes: RegoObject): string[] {
  const expected = outcomes.get('parsed parsed') as RegoValue[]
  return outcomes.entries.flatMap(([ways, found]) =>
    EXPRESSIONS.flatMap((expression, at) => {
      const [mine = null, parsed = null] = [(found as RegoValue[])[at], expected[at]]
      if (printJson(mine) === printJson(parsed)) return []
      return [`${printJson(ways)} ${expression}: ${printJson(mine)} where ${printJson(parsed)} is expected`]
    }),
  )
}

test('a value is the same to a policy from every source', async () => {
  const snapshot = await loadPolicies({ 'p.rego': POLICY, 'data.json': `{"values":[${TEXTS.join(',')}]}` })
  const plan = planDocument(snapshot, ['p', 'answers'])
  const place = fc.nat({ max: TEXTS.length - 1 })
  const pairs = [
    ...TEXTS.map((_, at) => [at, at] as const),
    ...fc.sample(fc.tuple(place, place), { numRuns: RANDOM_PAIRS, seed: SEED }),
  ]
  const input = `{"values":[${TEXTS.join(',')}],"texts":${JSON.stringify(TEXTS)},"pairs":${JSON.stringify(pairs)}}`
  const ask = (): string | undefined => evaluateDocument(plan, Buffer.from(input), newCall({}))
  const answer = ask()
  const answers = membersOf(parseRegoText(answer ?? 'null'))
  expect(answers.length).toBe(pairs.length)
  const found = answers.flatMap(([pair, outcomes]) => {
    const [m, n] = pairs[Number(pair)] ?? [0, 0]
    expect(membersOf(outcomes).length, `${TEXTS[m]} and ${TEXTS[n]}`).toBe(18)
    return differences(outcomes as RegoObject).map((line) => `${TEXTS[m]} and ${TEXTS[n]}: ${line}`)
  })
  expect(found).toEqual([])
  // The data, which is kept for the next evaluation, is unchanged.
  expect(ask()).toBe(answer)
}, 60_000)
