import { expect, test } from 'vitest'

import { evaluateTraced } from '../../../src/rego/explain/evaluate-traced.js'
import { explainEvaluations, pathsOf } from '../../../src/rego/explain/explain-evaluation.js'
import type { ExplainMode, Explanation } from '../../../src/rego/explain/explain-evaluation.js'
import type { RuleExplanation } from '../../../src/rego/explain/explain-rules.js'
import { loadTraced } from '../../../src/rego/explain/traced-policies.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { Question } from '../../../src/rego/slow/question.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { ENDLESS_POLICY } from '../../support/endless-policy.js'

interface Case {
  readonly rego: Readonly<Record<string, string>>
  readonly data?: object
  readonly input?: unknown
  readonly question: Question
  readonly mode?: ExplainMode
}

async function explain({ rego, data = {}, input, question, mode = 'full' }: Case) {
  const files = Object.entries(rego).map(([file, text]) => ({ file, text }))
  const documents = [{ file: 'data.json', at: [], content: Buffer.from(JSON.stringify(data)) }]
  const traced = await loadTraced({ rego: files, data: documents }, pathsOf(question), {
    findOpa: () => findOpa({ env: process.env }),
    builtins: hostBuiltins,
    limits: DEFAULT_LIMITS,
  })
  const bytes = input === undefined ? undefined : Buffer.from(JSON.stringify(input))
  const outcome = await evaluateTraced(traced, question, bytes, (evaluate, options) =>
    Promise.resolve(evaluate(newCall(options))),
  )
  return { ...outcome, explanation: explainEvaluations(traced, [{ question, trace: outcome.trace }], mode) }
}

const rulesOf = ({ packages }: Explanation): readonly RuleExplanation[] =>
  packages.flatMap(({ rules }) => rules)
const document = (...path: string[]): Question => ({ kind: 'document', path })

const ACCESS = `# METADATA
# title: Access
package access

import rego.v1

default allow := false

# METADATA
# title: Owners may deploy
# custom:
#   severity: high
allow if {
	input.action == "deploy"
	some role in input.user.roles
	role in data.owners[input.app]
	every tag in input.tags { startswith(tag, "v"); count(tag) > 1 }
}

allow if is_admin(input.user)

is_admin(user) if user.level >= 9

is_admin(user) if {
	user.name == "root"
} else := false if user.guest
`
const DEPLOY = { action: 'deploy', app: 'shop', user: { name: 'ana', roles: ['ops', 'dev'], level: 3 } }
const OWNERS = { owners: { shop: ['dev'] } }
const access = (input: object, mode?: ExplainMode) =>
  explain({
    rego: { 'access.rego': ACCESS },
    data: OWNERS,
    input,
    question: document('access', 'allow'),
    ...(mode && { mode }),
  })

test('a rule that fired is shown with file, line, labels and the values that mattered', async () => {
  const { answer, explanation } = await access({ ...DEPLOY, tags: ['v1'] })
  expect(answer).toBe('true')
  expect(explanation.packages).toMatchObject([{ package: 'access', title: 'Access' }])
  expect(rulesOf(explanation)[0]).toMatchObject({
    ...{ package: 'access', rule: 'allow', file: 'access.rego', row: 13, col: 1, outcome: 'fired' },
    ...{ title: 'Owners may deploy', custom: { severity: 'high' } },
    results: [
      {
        value: 'true',
        values: expect.arrayContaining([
          { term: 'input.action', values: ['"deploy"'] },
          { term: 'role', values: ['"dev"'] },
          { term: 'data.owners[input.app]', values: ['["dev"]'] },
        ]) as unknown,
      },
    ],
  })
})

test('a rule that did not fire is shown with the first condition that never held and its values', async () => {
  const { answer, explanation } = await access({ ...DEPLOY, app: 'billing', tags: [] })
  expect(answer).toBe('false')
  const [byDefault, owners, admins] = rulesOf(explanation)
  expect(byDefault).toMatchObject({ row: 7, outcome: 'default' })
  expect(owners).toMatchObject({
    outcome: 'not_fired',
    failed: {
      ...{ file: 'access.rego', row: 16, col: 2, text: 'role in data.owners[input.app]', count: 2 },
      source: '\trole in data.owners[input.app]',
    },
  })
  expect(owners?.failed?.samples.map(({ values }) => values)).toEqual([
    [
      { term: 'role', values: ['"ops"'] },
      { term: 'data.owners[input.app]', values: [] },
      { term: 'input.app', values: ['"billing"'] },
    ],
    [
      { term: 'role', values: ['"dev"'] },
      { term: 'data.owners[input.app]', values: [] },
      { term: 'input.app', values: ['"billing"'] },
    ],
  ])
  expect(admins).toMatchObject({ row: 20, outcome: 'not_fired' })
})

test('a failed condition names the functions that it calls, and why they have no value', async () => {
  const { explanation } = await access({ ...DEPLOY, action: 'none' })
  const because = rulesOf(explanation)[2]?.failed?.because
  expect(because).toMatchObject([
    {
      rule: 'is_admin',
      row: 22,
      failed: { text: 'user.level >= 9', samples: [{ values: [{ values: ['3'] }] }] },
    },
    { rule: 'is_admin', row: 24, failed: { row: 25, text: 'user.name == "root"' } },
    { rule: 'is_admin', row: 26, failed: { samples: [{ values: [{ term: 'user.guest', values: [] }] }] } },
  ])
})

test('a condition with every names the first element that does not fulfil it', async () => {
  const { explanation } = await access({ ...DEPLOY, tags: ['v1', 'x', 'y'] })
  expect(rulesOf(explanation)[1]?.failed).toMatchObject({
    row: 17,
    inEvery: { text: 'startswith(tag, "v")', element: [{ term: 'tag', values: ['"x"'] }] },
  })
})

test('notes are the rules that fired, fails those that did not', async () => {
  const shown = async (mode: ExplainMode) =>
    rulesOf((await access({ ...DEPLOY, tags: [] }, mode)).explanation).map(({ outcome, row }) => [
      row,
      outcome,
    ])
  expect(await shown('notes')).toEqual([[13, 'fired']])
  expect(await shown('fails')).toEqual([[20, 'not_fired']])
})

test('static policies are explained by their verdict rules, packages that deny first', async () => {
  const rego = {
    'a.rego': 'package static.a\nimport rego.v1\ndeny contains "a" if helper\nhelper if input.a > 3\n',
    'b.rego':
      'package static.b\nimport rego.v1\nimport data.lib.text as shown\ndeny contains shown.label(x) if {\n\tsome x in input.xs\n\tx > 1\n}\n',
    'lib.rego': 'package lib.text\nimport rego.v1\nlabel(x) := sprintf("%d is too much", [x])\n',
    'other.rego': 'package other\nbroken := data.static.c.deny\n',
  }
  const question: Question = { kind: 'static', packages: ['static/a', 'static/b'] }
  const { answer, explanation } = await explain({ rego, input: { a: 1, xs: [1, 2, 3] }, question })
  expect(answer).toHaveLength(2)
  const [denying, allowing] = explanation.packages
  expect(denying?.rules).toMatchObject([
    { package: 'static.b', results: [{ value: '"2 is too much"' }, { value: '"3 is too much"' }] },
  ])
  expect(allowing?.rules).toMatchObject([
    {
      package: 'static.a',
      outcome: 'not_fired',
      failed: {
        because: [
          {
            rule: 'helper',
            row: 4,
            failed: { text: 'input.a > 3', samples: [{ values: [{ term: 'input.a', values: ['1'] }] }] },
          },
        ],
      },
    },
  ])
})

test('version 0, negations, comprehensions, with, objects and unordered conditions are explained', async () => {
  const rego = {
    'old.rego': `package old

import input.stages as listed

deny[msg] {
	big > limit
	limit = input.limit
	big = count([s | s = listed[_]; s.cost > 1])
	not exempt
	msg = sprintf("%d of %d", [big, limit])
}

exempt { input.exempt with input.exempt as false }

sizes[name] = size { s := listed[_]; name := s.name; size := s.cost }

named["x y"] = 1 { input.missing[_].id == 3 }
`,
  }
  const input = {
    limit: 1,
    stages: [
      { name: 'a', cost: 2 },
      { name: 'b', cost: 3 },
    ],
  }
  const { answer, explanation } = await explain({ rego, input, question: document('old') })
  expect(answer).toBe('{"deny":["2 of 1"],"named":{},"sizes":{"a":2,"b":3}}')
  const rules = rulesOf(explanation)
  expect(rules.find(({ rule }) => rule === 'deny')).toMatchObject({
    outcome: 'fired',
    results: [{ value: '"2 of 1"' }],
  })
  expect(rules.find(({ rule }) => rule === 'sizes')?.results).toMatchObject([
    { key: '"a"', value: '2' },
    { key: '"b"', value: '3' },
  ])
  expect(rules.find(({ rule }) => rule === 'exempt')?.failed).toMatchObject({ row: 13 })
  expect(rules.find(({ row }) => row === 17)?.failed).toMatchObject({
    samples: [{ values: [{ term: 'input.missing[_].id', values: [] }] }],
  })
})

test('a value that is undefined although all conditions hold is shown as the failed condition', async () => {
  const rego = {
    'p.rego': 'package p\nimport rego.v1\ndeny contains sprintf("%s", [input.name]) if input.x\n',
  }
  const { explanation } = await explain({ rego, input: { x: 1 }, question: document('p', 'deny') })
  expect(rulesOf(explanation)[0]).toMatchObject({
    outcome: 'not_fired',
    failed: {
      text: 'sprintf("%s", [input.name])',
      samples: [{ values: expect.arrayContaining([{ term: 'input.name', values: [] }]) as unknown }],
    },
  })
})

test('a runaway policy is explained up to the limit, with the error', async () => {
  const question: Question = { kind: 'static', packages: ['static/q'] }
  const { error, explanation } = await explain({
    rego: { 'q.rego': ENDLESS_POLICY },
    input: { size: 1e6 },
    question,
  })
  expect(error?.code).toBe('evaluation_budget_exceeded')
  expect(rulesOf(explanation)[1]).toMatchObject({ outcome: 'not_fired', failed: { text: 'a == -1' } })
})
