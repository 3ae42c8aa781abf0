import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { laterKeywords } from '../../../src/rego/opa/opa-release.js'
import { loadPolicies } from '../../support/load-policies.js'

const LATER = await laterKeywords(await findOpa({ env: process.env }))

const NEGATED = `package a

import future.keywords

answers contains "not tested" if not data.apps[input.app].tested

answers contains "another version" if not { data.apps[input.app].version == 1; input.env == "prod" }

answers contains "none at version 3" if not { data.apps[_].version == 3 }

answers contains "none at version 2" if not { data.apps[_].version == 2 }

answers contains "not the version of f" if not data.apps[input.app].version == f(input.env)

f("prod") := 1
`

const JOINED = `package a

import future.keywords.or
import future.keywords.and

answers contains "not tested in prod" if not data.apps[input.app].tested and input.env == "prod"

answers contains "another version or dev" if not data.apps[input.app].version == 1 or input.env == "dev"

answers contains "dev or another version" if {
	input.env == "dev" or
		not data.apps[input.app].version == 1
}

answers contains "no shop" if not walk(input, [["app"], "shop"]) and input.env == "prod"
`

function app(name: string, version: number, tested: boolean): string {
  return `package apps.${name}\n\nimport rego.v1\n\nversion := ${version}\n\ntested := ${tested}\n`
}

async function answers(policy: string, input: unknown): Promise<unknown> {
  const snapshot = await loadPolicies({
    'a.rego': policy,
    'shop.rego': app('shop', 1, true),
    'cart.rego': app('cart', 2, false),
  })
  const plan = planDocument(snapshot, ['a', 'answers'])
  return JSON.parse(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall()) ?? 'null')
}

// What OPA's own evaluator answers (1.20.2).
test.skipIf(!LATER.includes('or')).each([
  ['not', { app: 'shop', env: 'prod' }, ['none at version 3']],
  [
    'not',
    { app: 'cart', env: 'prod' },
    ['another version', 'none at version 3', 'not tested', 'not the version of f'],
  ],
  ['not', {}, ['another version', 'none at version 3', 'not tested', 'not the version of f']],
  ['and, or', { app: 'shop', env: 'prod' }, []],
  [
    'and, or',
    { app: 'cart', env: 'prod' },
    ['another version or dev', 'dev or another version', 'no shop', 'not tested in prod'],
  ],
  ['and, or', { env: 'dev' }, ['another version or dev', 'dev or another version']],
])('of the later keywords, %s with %j mean what they mean in OPA', async (keywords, input, expected) => {
  expect(await answers(keywords === 'not' ? NEGATED : JOINED, input)).toEqual(expected)
})
