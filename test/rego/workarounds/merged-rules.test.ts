import { describe, expect, test } from 'vitest'

import { readOpaErrors } from '../../../src/rego/modules/opa-errors.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const KEYS = 'p[k] := 1 if { k := input.k }'
const SETS = 'p[k] contains "b" if { k := input.k }'

const packageOf = (name: string, ...rules: string[]): string =>
  `package ${name}\n\nimport rego.v1\n\n${rules.join('\n\n')}\n`

function textOf(snapshot: Awaited<ReturnType<typeof loadPolicies>>, input: unknown): unknown {
  const text = evaluateDocument(planDocument(snapshot, ['q']), Buffer.from(JSON.stringify(input)), newCall())
  return JSON.parse(text ?? 'null')
}

describe('rules that the planner would merge into other rules are refused with their places', () => {
  test.each([
    ['a set before an object of sets', ['p contains "a"', SETS], 5, /conflicting rules data\.q\.p found/],
    ['a set after an object of sets', [SETS, 'p contains "a"'], 7, /conflicting rules data\.q\.p found/],
    [
      'a set next to sets at the second key',
      ['p.x contains "a"', 'p.x[k].z contains "b" if { k := input.k }'],
      5,
      /data\.q\.p\.x found/,
    ],
    ['a function before an object', ['p.f(x) := x', KEYS], 5, /function data\.q\.p\.f conflicts/],
    ['a function after an object', [KEYS, 'p.x.f(x) := x'], 7, /outside data\.q\.p$/],
    ['a function next to a number', ['p.f(x) := x', 'p[1] := 2'], 5, /function data\.q\.p\.f conflicts/],
    [
      'a default next to a number',
      ['default p.x := 9', 'p[1] := 2'],
      5,
      /default rule data\.q\.p\.x conflicts/,
    ],
  ])('%s', async (_, rules, row, message) => {
    const refusal = (files: Readonly<Record<string, string>>, at: { file: string; row: number }) =>
      expect(loadPolicies(files)).rejects.toMatchObject({
        kind: 'invalid',
        details: [
          {
            code: 'rego_type_error',
            message: expect.stringMatching(message) as string,
            location: { file: expect.stringMatching(at.file) as string, row: at.row },
          },
        ],
      })
    await refusal({ 'q.rego': packageOf('q', ...rules) }, { file: 'q.rego', row })
    const files = rules.map((rule, at) => [`${at}.rego`, packageOf('q', rule)])
    await refusal(Object.fromEntries(files) as Record<string, string>, {
      file: `${(row - 5) / 2}.rego`,
      row: 5,
    })
  })
})

test.each([
  [['p.x := 2 if input.on', KEYS], { p: { a: 1, x: 2 } }],
  [['p.x contains "c"', SETS], { p: { a: ['b'], x: ['c'] } }],
  [['p[1] := 2', 'p.x := 3'], { p: { 1: 2, x: 3 } }],
  [['default p.x := 9', KEYS], { p: { a: 1 } }],
  [['p.f(x) := x', 'p.x := 3'], { p: { x: 3 } }],
  [['p.f(x) := x'], { p: {} }],
])('rules that can be merged are, as in OPA: %j', async (rules, expected) => {
  const snapshot = await loadPolicies({ 'q.rego': packageOf('q', ...rules) })
  expect(textOf(snapshot, { k: 'a', on: true })).toEqual(expected)
})

test('a panic of the opa program is one sentence', async () => {
  const files = { 'a.rego': packageOf('a', 'p[1] := 2'), 'b.rego': packageOf('a.p', 'x := 1') }
  await expect(loadPolicies(files)).rejects.toMatchObject({ details: expect.any(Array) as unknown[] })
  const stderr =
    'panic: runtime error: slice bounds out of range [3:2]\n\ngoroutine 1 [running]:\nmain.main()\n'
  expect(readOpaErrors({ exitCode: 2, stdout: '', stderr }, (file) => file)).toEqual([
    {
      code: 'opa_error',
      message:
        'the opa program panics on these policies (runtime error: slice bounds out of range [3:2]). Undo the latest change, or compile with another release (tidegate opa install)',
    },
  ])
})
