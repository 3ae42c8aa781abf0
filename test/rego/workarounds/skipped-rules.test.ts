import { expect, it, test } from 'vitest'

import { splitLookups } from '../../../src/rego/workarounds/skipped-rules.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

async function split(text: string, isOlder: boolean): Promise<string> {
  const rule = { isDynamic: false, isFunction: false, excludesData: true }
  const of = { file: 'a.rego', version: 1, text: '' } as const
  const modules = await splitLookups(
    [
      { ...of, packagePath: ['p'], rules: [], text },
      {
        ...of,
        packagePath: ['apps', 'shop'],
        rules: [
          { ...rule, path: ['lim', 'prod'] },
          { ...rule, path: ['cfg', 'prod', 'on'] },
        ],
      },
      {
        ...of,
        packagePath: ['apps', 'cart'],
        rules: [
          { ...rule, path: ['lim'], isDynamic: true },
          { ...rule, path: ['cfg'] },
        ],
      },
    ],
    isOlder,
  )
  return modules[0]?.text ?? ''
}

it.each([
  ['r := data.apps[input.x].lim[y]', 'r := [data.apps[input.x].lim][0][y]'],
  ['r if not [1 | data.apps[x].lim.prod == 1] == []', 'r if not [1 | [data.apps[x].lim][0].prod == 1] == []'],
  ['r if not f(data.apps[x].lim.prod) == 1', 'r if not f([data.apps[x].lim][0].prod) == 1'],
  [
    'import future.keywords\n\nr if not { data.apps[x].lim.prod }',
    'import future.keywords\n\nr if not { [data.apps[x].lim][0].prod }',
  ],
  ['r if data.apps[x].lim[_]', 'r if [data.apps[x].lim][0][_]'],
  [
    'import data.apps as a\n\nr := a[a[x].lim[y]].lim.prod',
    'import data.apps as a\n\nr := [a[[a[x].lim][0][y]].lim][0].prod',
  ],
])('a lookup below which some rules go on with a variable is in two steps: %s', async (text, expected) => {
  expect(await split(text, false)).toBe(expected)
})

it.each([
  'r := data.apps[x].lim',
  'r := data.apps[x].lim.dev',
  'r := data.apps.shop.lim[y]',
  'r := data.apps[x].cfg.prod.on',
  'r := data.apps[_].lim.prod',
  'r := data.apps[x].lim.f(y)',
  // An array is taken out of a negation, which has no value then where the lookup has none.
  'r if not data.apps[x].lim.prod == 1',
  'r if not 1 == data.apps[x].lim.prod',
  'r if not (data.apps[x].lim.prod == 1)',
  'r if not data.apps[x].lim[y] with input.x as 1',
])('what looks at all is left as it is: %s', async (text) => {
  expect(await split(text, false)).toBe(text)
})

it('is in two steps where OPA 0.70 forgets the rules with the shorter name', async () => {
  expect(await split('r := data.apps[x].cfg.prod.on', true)).toBe('r := [data.apps[x].cfg][0].prod.on')
})

const SHOP = 'package apps.shop\n\nimport rego.v1\n\nlim.prod := 1\n\ncfg.prod.on := true\n'
const CART =
  'package apps.cart\n\nimport rego.v1\n\nlim[k] := v if some k, v in {"prod": 2}\n\ncfg := {"prod": {"on": true}}\n'
const INNER = 'package apps.deep.inner\n\nimport rego.v1\n\ntested := true\n'
const POLICY = `package a

import rego.v1

answers contains sprintf("limit %d", [data.apps[input.app].lim[input.env]])

answers contains "no limit 1" if not data.apps[input.app].lim.prod == 1
`

// The result of OPA's own evaluator, equal in 0.70 and 1.20.2.
test.each([
  [{ app: 'shop', env: 'prod' }, ['limit 1']],
  [{ app: 'cart', env: 'prod' }, ['limit 2', 'no limit 1']],
  [{ app: 'deep', env: 'prod' }, ['no limit 1']],
])('rules with names of other lengths are found for %j', async (input, expected) => {
  const policies = { 'a.rego': POLICY, 'shop.rego': SHOP, 'cart.rego': CART, 'inner.rego': INNER }
  const plan = planDocument(await loadPolicies(policies), ['a', 'answers'])
  expect(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall())).toBe(JSON.stringify(expected))
})

test.each([
  ['data.apps[input.app].cfg[input.env].on', { app: 'cart', env: 'prod' }],
  ['data.apps[input.app][input.sub].tested', { app: 'deep', sub: 'inner' }],
])('a rule with a name of another length is found: %s', async (lookup, input) => {
  const policy = `package a\n\nimport rego.v1\n\nanswers if ${lookup}\n`
  const policies = { 'a.rego': policy, 'shop.rego': SHOP, 'cart.rego': CART, 'inner.rego': INNER }
  const plan = planDocument(await loadPolicies(policies), ['a', 'answers'])
  expect(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall())).toBe('true')
})

test('policies that would call themselves in two steps are refused where they are written', async () => {
  const shop = `${SHOP}\nlim.dev := 1 if data.a.answers\n`
  const policy = 'package a\n\nimport rego.v1\n\nanswers if data.apps[input.app].lim.prod == 2\n'
  await expect(
    loadPolicies({ 'a.rego': policy, 'shop.rego': shop, 'cart.rego': CART }),
  ).rejects.toMatchObject({
    details: [{ code: 'lost_in_compiling', location: { row: 5, col: 12 } }],
  })
})

test.each([
  ['data.static[p][q][m]', '["no"]'],
  ['data.static.f[q][m]', '["no"]'],
])('a lookup that may find a function finds the rules next to it: %s', async (lookup, expected) => {
  const files = {
    'f.rego': 'package static.f\n\nimport rego.v1\n\nwhy(x) := "no" if x == 1\n\ndeny contains why(1)\n',
    'a.rego': `package a\n\nimport rego.v1\n\nfound contains m if { some p, q; p = "f"; ${lookup} }\n`,
  }
  const plan = planDocument(await loadPolicies(files), ['a', 'found'])
  expect(evaluateDocument(plan, undefined, newCall())).toBe(expected)
})
