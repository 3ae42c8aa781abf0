import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { encodingAnswers } from '../../../src/rego/builtins/native/encoding-answers.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { outcomeOf } from '../../support/builtin-outcome.js'
import { newerOpa } from '../../support/compilers.js'
import { loadPolicies } from '../../support/load-policies.js'
import { seededRandom } from '../../support/random-bytes.js'
import { makeWorkspace } from '../../support/workspace.js'

/** Number of expressions; set NUMBER_EXPRESSIONS=10000 for more. */
const EXPRESSIONS = Number(process.env['NUMBER_EXPRESSIONS'] ?? 300)
const SEED = Number(process.env['NUMBER_EXPRESSIONS_SEED'] ?? 20_261_126)
const RULES_A_MODULE = 250

const NUMBERS = [
  '.5',
  '.25e1',
  '.07',
  '.1E-1',
  '-.5',
  '0.5',
  '1.50',
  '2',
  '1e2',
  '10E-1',
  '-3.0',
  '7',
  '.999',
  '0',
  '.0',
  '-0',
  '- .5',
  '1E+2',
  '1e05',
  '0e7',
  '0.1e-0',
  '100000e-5',
  '9007199254740993',
  '12345678901234567890',
  '123456789.123456789',
  '1e-7',
  '.5e-3',
  '1e21',
]
/** Notations of numbers in JSON, for inputs and base documents. */
const GIVEN = [
  ...[
    '0.5',
    '1.50',
    '1e2',
    '10E-1',
    '-3.0',
    '100e-2',
    '0.0',
    '1.00',
    '1E+2',
    '2.5e-1',
    '7',
    '12',
    '-0',
    '0e1',
  ],
  ...['1e05', '5E-01', '9007199254740993', '12345678901234567890', '1e21', '1e-7', '70.0e-1'],
]
const GIVEN_JSON = `{"given": [${GIVEN.join(', ')}]}`
const OPERANDS = [...NUMBERS, ...GIVEN.flatMap((_, at) => [`input.given[${at}]`, `data.given[${at}]`])]
const OPERATORS = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=']
const CALLS = [
  ...['abs(A)', 'ceil(A)', 'floor(A)', 'round(A)', 'sum([A, B])', 'product([A, B])', 'max([A, B]) * 1'],
  ...['min([A, B]) * 1', 'sort([A, B])[0] + 0', 'count({A, B})', 'to_number("A") + B'],
  ...['object.get({A: B}, A, 7) + 0', 'bits.and(A, B)', 'json.unmarshal("[B]")[0] + A'],
  ...['bits.or(A, B)', 'bits.xor(A, B)', 'bits.negate(A)', 'bits.lsh(A, 2)', 'bits.rsh(A, 1)'],
  ...[
    'numbers.range(min([A, 9]), min([B, 9]))',
    'format_int(A, 10)',
    'format_int(A, 2)',
    'rem(A, B)',
    'A in {B, 2, 1}',
  ],
  ...[
    'sprintf("%v %d %.2f", [A, A, B])',
    'json.marshal([A + 0, B * 1])',
    'object.get({A: "found"}, B, "none")',
  ],
  ...[
    'json.unmarshal(json.marshal({"n": A + 0})).n == A',
    '[A, B] == [B, A]',
    'count(object.union({A: 1}, {B: 2}))',
  ],
  ...['[y | some x in [A, B, 0.5]; x <= B; y := x + 0]', '[v | some k, v in {A: "found"}; k == B]'],
  ...[
    'count([1 | [A, B, 7][_] == A])',
    'min({A, B}) == A',
    '{A, B} - {B}  == set()',
    '{A, 1} & {B, 1} == {1}',
  ],
  ...['half(A)', 'half(B)', 'keyed[A]', 'true if walk({"n": A}, [["n"], B])', 'indexof("a1b", "1") + A'],
  ...[
    'array.slice([1, 2, 3], A, B)',
    'substring("abcdef", A, B)',
    'input.given[A]',
    'json.unmarshal("[1, 2, 3]")[A]',
  ],
  ...['sprintf("%d|%s|%v|%.3f|%e|%g|%x", [A, A, B, A, B, A, B])', 'concat("", [format_int(A, 16), "x"])'],
  ...[
    'time.add_date(A, 0, 0, 1)',
    'units.parse("2") * A',
    'is_number(A)',
    'type_name(A)',
    'to_number(A) + 0',
  ],
  ...['x * 1 if { x := A; x > B }', 'count(numbers.range(0, min([A, 200])))'],
  ...['count(object.remove({A: 1, "n": 2}, [A]))', 'array.concat([A], [B]) == [B, A]'],
]

function expressions(): string[] {
  const random = seededRandom(SEED)
  const oneOf = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '0'
  return Array.from({ length: EXPRESSIONS }, () => {
    const [a, b] = [oneOf(OPERANDS), oneOf(OPERANDS)]
    if (random() < 0.5) return `${a} ${oneOf(OPERATORS)} ${b}`
    return oneOf(CALLS).replaceAll('A', a).replaceAll('B', b)
  })
}

/** Numbers in the heads and bodies of functions and rules. */
const HELPERS = `rest[.5] := -.25
rest[1e2] := .5e1 * 1
half(.5) := "half"
half(-.25e1) := "less"
half(100) := "hundred"
default half(_) := 0.75
keyed[n] := .1 * 2 if some n in [.5, .07, 1E+2, -3.0]
`

/** A module with a rule `answers` that contains the value of each defined expression. */
function moduleOf(some: readonly string[]): string {
  const rules = some.map((expression, place) => `answers["${place}"] := ${expression}`)
  return `package numbers\n\nimport rego.v1\n\n${HELPERS}\n${rules.join('\n')}\n`
}

// Built-ins are those of OPA 1.20; 0.70 formats some numbers otherwise.
const opa = newerOpa()

test.skipIf(opa === undefined)(
  'expressions over all spellings of numbers have the values that OPA evaluates',
  async () => {
    const workspace = makeWorkspace()
    const all = expressions()
    const differences: unknown[] = []
    for (let from = 0; from < all.length; from += RULES_A_MODULE) {
      const some = all.slice(from, from + RULES_A_MODULE)
      const text = moduleOf(some)
      const file = join(workspace.path, 'numbers.rego')
      writeFileSync(file, text)
      const data = join(workspace.path, 'data.json')
      writeFileSync(data, GIVEN_JSON)
      const args = ['--data', file, '--data', data, '--input', data, 'data.numbers.answers']
      const printed = execFileSync(opa ?? '', ['eval', '--format', 'raw', ...args], { encoding: 'utf8' })
      const expected = JSON.parse(printed) as Record<string, unknown>
      const snapshot = await loadPolicies({ 'numbers.rego': text, 'data.json': GIVEN_JSON })
      const plan = planDocument(snapshot, ['numbers', 'answers'])
      const answers = JSON.parse(
        evaluateDocument(plan, Buffer.from(GIVEN_JSON), newCall()) ?? '{}',
      ) as Record<string, unknown>
      for (const [place, expression] of some.entries()) {
        const [ours, theirs] = [answers[place], expected[place]]
        if (JSON.stringify(ours) !== JSON.stringify(theirs)) differences.push({ expression, ours, theirs })
      }
    }
    workspace.remove()
    expect(differences).toEqual([])
  },
  60_000 + EXPRESSIONS * 20,
)

test.each([
  ['1E5', '1E5'],
  ['1.5E+3', '1.5E+3'],
  ['1e-7', '1e-7'],
  ['1_000.5E0', '1000.5E0'],
  ['+.5', '0.5'],
  ['5.', '5'],
  ['0x1p4', '16'],
])('to_number keeps the spelling %s as far as it is JSON', (text, number) => {
  expect(outcomeOf(encodingAnswers, 'to_number', JSON.stringify([text]))).toBe(number)
})
