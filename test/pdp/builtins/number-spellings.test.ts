import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/pdp/evaluation/evaluate-document.js'
import { newCall } from '../../../src/pdp/evaluation/new-call.js'
import { newerOpa, olderOpa } from '../../support/compilers.js'
import { loadPolicies } from '../../support/load-policies.js'
import { seededRandom } from '../../support/random-bytes.js'
import { makeWorkspace } from '../../support/workspace.js'

/** NUMBER_EXPRESSIONS=10000 makes more of them. */
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
]
const OPERATORS = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=']
const CALLS = [
  ...['abs(A)', 'ceil(A)', 'floor(A)', 'round(A)', 'sum([A, B])', 'product([A, B])', 'max([A, B]) * 1'],
  ...['min([A, B]) * 1', 'sort([A, B])[0] + 0', 'count({A, B})', 'to_number("A") + B'],
  ...['object.get({A: B}, A, 7) + 0', 'bits.and(A, B)', 'json.unmarshal("[B]")[0] + A'],
]

function expressions(): string[] {
  const random = seededRandom(SEED)
  const oneOf = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '0'
  return Array.from({ length: EXPRESSIONS }, () => {
    const [a, b] = [oneOf(NUMBERS), oneOf(NUMBERS)]
    if (random() < 0.5) return `${a} ${oneOf(OPERATORS)} ${b}`
    return oneOf(CALLS).replaceAll('A', a).replaceAll('B', b)
  })
}

/** A module whose rule `answers` has the value of each expression that has one. */
function moduleOf(some: readonly string[]): string {
  const rules = some.map((expression, place) => `answers["${place}"] := ${expression}`)
  return `package numbers\n\nimport rego.v1\n\n${rules.join('\n')}\n`
}

const opa = newerOpa() ?? olderOpa()

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
      const args = ['eval', '--format', 'raw', '--data', file, 'data.numbers.answers']
      const expected = JSON.parse(execFileSync(opa ?? '', args, { encoding: 'utf8' })) as Record<
        string,
        unknown
      >
      const plan = planDocument(await loadPolicies({ 'numbers.rego': text }), ['numbers', 'answers'])
      const answers = JSON.parse(evaluateDocument(plan, undefined, newCall()) ?? '{}') as Record<
        string,
        unknown
      >
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
