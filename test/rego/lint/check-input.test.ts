import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { collectSources } from '../../../src/rego/compile/collect-sources.js'
import { parseModules } from '../../../src/rego/modules/parse-modules.js'
import { checkInput } from '../../../src/rego/lint/check-input.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'

const opa = await findOpa({ env: process.env })
const OPTIONS = { schemas: 'schemas', staticPackages: ['static.**'] }

async function told(files: Readonly<Record<string, string>>): Promise<string[]> {
  const modules = await parseModules(
    opa,
    Object.entries(files).map(([file, text]) => ({ file, text })),
  )
  const found = await checkInput(opa, modules, OPTIONS)
  return found.map(
    ({ code, message, location }) => `${location?.file ?? ''}:${location?.row ?? 0} ${code} ${message}`,
  )
}

const RULE = 'deny contains 1 if input.nwe.name'
const FINDING =
  'undefined_input input.nwe.name is in no document that the schema describes; did you mean new?'

test.each<[string, Record<string, string>, string[]]>([
  ['no annotation', { 'a.rego': `package static.a\nimport rego.v1\n${RULE}` }, [`a.rego:3 ${FINDING}`]],
  [
    'a comment',
    { 'a.rego': `# Why\n# so\n\n# of it\npackage static.a\n\nimport rego.v1\n${RULE}` },
    [`a.rego:8 ${FINDING}`],
  ],
  [
    'a title',
    { 'a.rego': `# METADATA\n# title: A\npackage static.a\nimport rego.v1\n${RULE}` },
    [`a.rego:5 ${FINDING}`],
  ],
  [
    'a schema of its own',
    {
      'a.rego': `# METADATA\n# schemas:\n#   - input: schema.gate\npackage static.a\nimport rego.v1\ndeny contains 1 if input.JIRA.output[_].key\ndeny contains 2 if input.JIRRA`,
    },
    ['a.rego:7 undefined_input input.JIRRA is in no document that the schema describes; did you mean JIRA?'],
  ],
  [
    'an annotation in the second of two files',
    {
      'a.rego': `package static.a\nimport rego.v1\n${RULE}`,
      'b.rego': '# METADATA\n# title: A\npackage static.a\nimport rego.v1\nx := 1',
    },
    [`a.rego:3 ${FINDING}`],
  ],
  ['version 0', { 'a.rego': 'package static.a\n\ndeny[1] { input.nwe.name }' }, [`a.rego:3 ${FINDING}`]],
  ['no kind that is asked', { 'a.rego': `package lib.a\nimport rego.v1\n${RULE}` }, []],
  [
    'a body of the policy stage',
    {
      'a.rego':
        'package runtime.a\nimport rego.v1\ndeny contains 1 if input.trigger.user == input.stages[_].context.any\ndeny contains 2 if input.exectionId',
    },
    [
      'a.rego:4 undefined_input input.exectionId is in no document that the schema describes; did you mean executionId?',
    ],
  ],
  [
    'free-form stages',
    {
      'a.rego':
        'package static.a\nimport rego.v1\ndeny contains 1 if input.new.stages[_].any.thing[3].x == 1',
    },
    [],
  ],
])('a package with %s is checked, its rows as written', async (_name, files, findings) => {
  expect(await told(files)).toEqual(findings)
})

test('the policies that come along read nothing else', async () => {
  const { rego } = await collectSources(['policies'], { includeTests: true })
  expect(await checkInput(opa, await parseModules(opa, rego), OPTIONS)).toEqual([])
})

test.each(['static', 'runtime'])(
  'a reader of each member that the cases of %s policies send is not told',
  async (kind) => {
    const directory = kind === 'static' ? 'test/cases/pipelines' : 'test/cases/runtime'
    const documents = readdirSync(directory).map(
      (file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as Readonly<Record<string, unknown>>,
    )
    const base = kind === 'static' ? 'input.new' : 'input'
    const members = [...new Set(documents.flatMap((document) => Object.keys(document)))]
    expect(members.length).toBeGreaterThan(5)
    const rules = members.map((name) => `deny contains 1 if ${base}.${name}`)
    expect(await told({ 'a.rego': [`package ${kind}.a`, 'import rego.v1', ...rules].join('\n') })).toEqual([])
  },
)
