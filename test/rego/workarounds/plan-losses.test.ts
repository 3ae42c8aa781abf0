import { describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { laterKeywords } from '../../../src/rego/opa/opa-release.js'
import { loadPolicies } from '../../support/load-policies.js'

const isLatest = (await laterKeywords(await findOpa({ env: process.env }))).includes('or')

const PACKAGES = {
  'prod.rego': 'package svc.prod\n\nimport rego.v1\n\nlim.prod := 9\n\nn := 4\n\nv := 9\n',
  'dev.rego':
    'package svc.dev\n\nimport rego.v1\n\nlim[k] := v if some k, v in {"prod": 8}\n\nn := 3\n\nv := 8\n',
}
const OWN = 'own.prod.lim.prod := 9\n\nown.dev.lim[k] := v if some k, v in {"prod": 8}\n'

function policies(text: string, imports = 'import rego.v1'): Record<string, string> {
  return { ...PACKAGES, 'q.rego': `package q\n\n${imports}\n\n${OWN}\n${text}\n` }
}

async function answer(text: string, input: unknown, imports?: string): Promise<unknown> {
  const plan = planDocument(await loadPolicies(policies(text, imports)), ['q', 'deny'])
  return JSON.parse(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall()) ?? 'null')
}

describe('a lookup of rules of several kinds denies as in OPA', () => {
  test.each([
    'deny if { some v in data.svc[input.team].lim; v > 7 }',
    'deny if { some k, v in data.svc[input.team].lim; v > 7; k == "prod" }',
    'deny if data.svc[input.team].lim[input.env] > 7',
    'deny if own[input.team].lim[input.env] > 7',
    'deny if { some v in own[input.team].lim; v > 7 }',
    'deny if count({v | some t in [input.team]; some v in data.svc[t].lim}) == 1',
    'deny if not data.svc[input.team].v == 7',
    'deny if not own[input.team].lim.prod == 7',
  ])('%s', async (text) => {
    expect(await answer(text, { team: 'prod', env: 'prod' })).toBe(true)
    expect(await answer(text, { team: 'dev', env: 'prod' })).toBe(true)
  })

  test.skipIf(!isLatest)('in a negated body', async () => {
    const text = 'deny if not { some v in data.svc[input.team].lim; v > 8 }'
    expect(await answer(text, { team: 'prod' }, 'import future.keywords')).toBe(null)
    expect(await answer(text, { team: 'dev' }, 'import future.keywords')).toBe(true)
  })
})

// OPA keeps the outcome of the iteration before.
test.skipIf(!isLatest)('a negated body in a loop is evaluated in each iteration', async () => {
  const text = 'deny contains x if { some x in input.xs; not { some y in [4, 5]; y == x } }'
  expect(await answer(text, { xs: [1, 5, 2, 4, 3] }, 'import future.keywords')).toEqual([1, 2, 3])
})

describe('what OPA compiles to code that answers differently is refused with its place and what to write', () => {
  test.each([
    // A lookup that nothing has rewritten.
    ['deny if { x := input.x; not data.svc[input.team].n == {1: 4, 2: 0}[x] }', /a rule of its own/],
    [
      'deny if { x := input.x; f(x) }\n\nf(x) if { y := input.y; not data.svc[x].n == {1: 4, 2: 0}[y] }',
      /a rule of its own/,
    ],
    ['deny if { [x, y] = [y, 5]; x == 5 }', /one equation for each variable/],
    ['deny if { {"a": x, "b": y} = {"a": y, "b": 5}; x == 5 }', /one equation/],
    ['deny if { [[x], y] = [[y], 5]; x == 5 }', /one equation/],
    ['deny if { [x, x] = [y, 5]; y == 5 }', /one equation/],
    // The variables of all definitions share places in the compiled code.
    [
      'deny if { x := input.x; y := input.y; x == y; z := [x, y]; count(z) == 1 }\n\ndeny if { [x, y] = [y, 5]; x == 5 }',
      /one equation/,
    ],
    ['deny if count([1 | [x, {"k": y}] = [y, {"k": 5}]]) == 0', /one equation/],
  ])('%s', async (text, advice) => {
    const before = policies('')['q.rego']?.trimEnd().split('\n').length ?? 0
    await expect(loadPolicies(policies(text))).rejects.toMatchObject({
      kind: 'invalid',
      details: [
        {
          code: 'lost_in_compiling',
          message: expect.stringMatching(advice) as string,
          location: {
            file: expect.stringMatching(/q\.rego$/) as string,
            row: before + text.split('\n').length + 1,
          },
        },
      ],
    })
  })

  test
    .skipIf(!isLatest)
    .each([
      'deny if "x 9" == $"x {count([1 | not data.svc[input.team].v == 8])}"',
      'deny if "x 9" == $"x {own[input.team].lim[input.env]}"',
    ])('in a template string: %s', async (text) => {
    await expect(loadPolicies(policies(text))).rejects.toMatchObject({
      details: [{ code: 'lost_in_compiling' }],
    })
  })
})

test.each([
  'deny if { [x, y] = [4, 5]; x < y }',
  'deny if { y := 5; [x, y] = [y, 5]; x == 5 }',
  'deny if { [x, 5] = [input.x, 5]; x == 1 }',
  'deny if { y = 5; x = y; x == 5 }',
  'deny if not data.svc.prod.v == 7',
  'deny if not lost\n\nlost if data.svc[input.team].n == {1: 4, 2: 0}[input.y]',
  'deny if not data.teams[input.team].v == 7',
])('what OPA compiles right is loaded: %s', async (text) => {
  expect(await answer(text, { team: 'prod', x: 1, y: 2 })).toBe(true)
})
