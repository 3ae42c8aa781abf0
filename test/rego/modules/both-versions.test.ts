import { expect, test } from 'vitest'

import { parseModules } from '../../../src/rego/modules/parse-modules.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const OLDER =
  'package older\n\ndeny[message] {\n\tinput.a == 1\n\tmessage := "one"\n}\n\ndefault allow = false\n\nf(x) = x\n'
const NEWER = 'package newer\n\ndeny contains message if {\n\tinput.a == 1\n\tmessage := "one"\n}\n'
const EITHER = 'package either\n\nimport rego.v1\n\nlimit := 3\n'

test('each file is read in the version of Rego that it is written in', async () => {
  const files = Object.entries({ 'older.rego': OLDER, 'newer.rego': NEWER, 'either.rego': EITHER })
  const modules = await parseModules(
    await findOpa({ env: process.env }),
    files.map(([file, text]) => ({ file, text })),
  )
  expect(new Map(modules.map(({ file, version }) => [file, version]))).toEqual(
    new Map([
      ['older.rego', 0],
      ['newer.rego', 1],
      ['either.rego', 1],
    ]),
  )
  const rules = modules.find(({ file }) => file === 'older.rego')?.rules
  expect(rules?.map(({ path }) => path.join('.'))).toEqual(['deny', 'allow', 'f'])
  expect(rules?.map(({ isFunction }) => isFunction)).toEqual([false, false, true])
})

test('files of both versions answer together', async () => {
  const snapshot = await loadPolicies({ 'older.rego': OLDER, 'newer.rego': NEWER, 'either.rego': EITHER })
  const ask = (path: string): string | undefined =>
    evaluateDocument(planDocument(snapshot, path.split('.')), Buffer.from('{"a":1}'), newCall())
  expect(ask('older.deny')).toBe('["one"]')
  expect(ask('newer.deny')).toBe('["one"]')
  expect(ask('older.allow')).toBe('false')
  expect(ask('either.limit')).toBe('3')
})

test('what is wrong with a file of version 0 is told by its own rows', async () => {
  const loading = loadPolicies({
    'good.rego': OLDER,
    'bad.rego': 'package bad\n\nok { true }\n\ndeny[x] {\n\tx := \n}\n',
  })
  await expect(loading).rejects.toMatchObject({
    details: expect.arrayContaining([
      expect.objectContaining({
        location: expect.objectContaining({ file: expect.stringMatching(/bad\.rego$/) as string }) as object,
      }) as object,
    ]) as object[],
  })
})

test.each([
  'package removed\n\nimport future.keywords\n\ndeny contains "m" if {\n\tany([input.a == 1, false])\n\tre_match("a+", input.b)\n}\n',
  'package removed\n\ndeny["m"] {\n\tany([input.a == 1, false])\n\tre_match("a+", input.b)\n}\n',
])('a file with built-ins that only version 0 has is read as version 0: %j', async (text) => {
  const plan = planDocument(await loadPolicies({ 'removed.rego': text, 'newer.rego': NEWER }), [
    'removed',
    'deny',
  ])
  expect(evaluateDocument(plan, Buffer.from('{"a":1,"b":"a"}'), newCall())).toBe('["m"]')
})
