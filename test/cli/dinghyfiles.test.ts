import { afterAll, expect, test } from 'vitest'

import { readDefinitions } from '../../src/cli/input/read-definitions.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const PIPELINES = [
  { name: 'one', stages: [{ name: 'Soak', wait: 99 }] },
  { name: 'two', application: 'other', stages: [{ name: 'Soak', wait: 99 }] },
]
const FILE = `{"application": "shop", "globals": {},\n"pipelines": [\n${PIPELINES.map((each) => JSON.stringify(each)).join(',\n')}]}`
const workspace = makeWorkspace({
  'policies/wait.rego': [
    'package static.wait',
    'import rego.v1',
    'deny contains sprintf("stage \'%v\' waits", [s.name]) if {',
    '  some s in input.new.stages',
    '  s.wait > 60',
    '}',
  ].join('\n'),
  dinghyfile: FILE,
  'empty.json': '{"application": "shop", "pipelines": []}',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

test('a dinghyfile is checked pipeline by pipeline, with the locations of the stages', async () => {
  const { exitCode, stdout } = await runTidegate(['check', 'dinghyfile'], { cwd })
  expect(exitCode).toBe(1)
  expect(stdout).toContain(
    [
      'denied   dinghyfile "one"',
      "  static.wait: stage 'Soak' waits (dinghyfile:3:25)",
      'denied   dinghyfile "two"',
      "  static.wait: stage 'Soak' waits (dinghyfile:4:47)",
    ].join('\n'),
  )
})

test('a dinghyfile without pipelines cannot be checked', async () => {
  expect(await runTidegate(['check', 'empty.json'], { cwd })).toMatchObject({ exitCode: 2 })
})

test('a dinghyfile gives its application to pipelines without one', () => {
  const definitions = readDefinitions(Buffer.from(FILE)).map(({ input }) => {
    return (JSON.parse(Buffer.from(input).toString()) as { new: object }).new
  })
  expect(definitions).toEqual([{ ...PIPELINES[0], application: 'shop' }, PIPELINES[1]])
})

test('a directory gives its dinghyfiles, in JSON or YAML, and names those that are templates', async () => {
  const files = makeWorkspace({
    'a/dinghyfile': FILE,
    'b/dinghyfile': `application: shop\npipelines:\n  - ${JSON.stringify({ ...PIPELINES[0], name: 'yaml' })}\n`,
    'c/dinghyfile': '{"application": "shop",\n "pipelines": [ {{ module "wait" }} ]}',
    'd/dinghyfile': '{"application": "{{ var "app" }}", "pipelines": [{"stages": []}]}',
    'e/pipeline.json': '{"stages": [ {{ module "wait" }} ]}',
    'f/other': 'not a definition',
  })
  const { exitCode, stdout } = await runTidegate(['check', files.path], { cwd })
  files.remove()
  expect(exitCode).toBe(2)
  for (const name of ['one', 'two', 'yaml']) expect(stdout).toContain(`dinghyfile "${name}"`)
  const advice = 'Templates ({{ … }}) are not rendered: pass the rendered file'
  expect(stdout).toContain(`c/dinghyfile:2:17: this file is a template. ${advice}`)
  expect(stdout).toContain(`d/dinghyfile:1:18: this file is a template. ${advice}`)
  expect(stdout).toMatch(/e\/pipeline\.json:1:\d+: .*pass the rendered file/)
  expect(stdout).not.toContain('f/other')
})
