import { expect, test, vi } from 'vitest'

import type { readModules } from '../../../src/rego/modules/read-modules.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { pathOfKey } from '../../../src/rego/values/path-key.js'
import { loadPolicies } from '../../support/load-policies.js'

/** Reads as it should, and then forgets the last rule of each module. */
vi.mock('../../../src/rego/modules/read-modules.js', async (original) => {
  const real = await original<{ readModules: typeof readModules }>()
  return {
    ...real,
    readModules: async (...given: Parameters<typeof real.readModules>) => {
      const modules = await real.readModules(...given)
      for (const module of modules) Object.assign(module, { rules: module.rules.slice(0, -1) })
      return modules
    },
  }
})

const FILES = {
  'a.rego':
    'package static.a\n\nimport rego.v1\n\ndeny contains "a" if input.a\n\nviolation contains "b" if input.a\n',
  'b.rego': 'package static.a.b\n\nimport rego.v1\n\nhelper(x) := x + 1\n\ndeny contains helper(1)\n',
  'c.rego': 'package c\n\nimport rego.v1\n\nfine := data.static.a.violation\n\nallow := false\n',
}

test.each([
  ['an entrypoint each', 200],
  ['one entrypoint for all', 0],
])('a rule that was not read is served as all others, in a module with %s', async (_, maxEntrypoints) => {
  const snapshot = await loadPolicies(FILES, undefined, { maxEntrypoints })
  const rules = [...snapshot.entrypoints].flatMap(([key, [first]]) => (first?.kind === 'rule' ? [key] : []))
  expect(rules.sort()).toEqual([
    'c/allow',
    'c/fine',
    'static/a/b/deny',
    'static/a/deny',
    'static/a/violation',
  ])
  const answers = rules.map((key) =>
    evaluateDocument(planDocument(snapshot, pathOfKey(key)), Buffer.from('{"a":true}'), newCall()),
  )
  expect(answers).toEqual(['false', '["b"]', '[2]', '["a"]', '["b"]'])
})
