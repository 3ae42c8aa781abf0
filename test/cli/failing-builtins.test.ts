import { afterAll, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/waits.rego': [
    'package static.waits',
    'import rego.v1',
    'deny contains msg if {',
    '  some s in input.new.stages',
    '  s.waitTime > 3600',
    '  msg := concat(" ", ["too long:", s.waitTime])',
    '}',
  ].join('\n'),
  'policies/waits_test.rego': [
    'package static.waits_test',
    'import rego.v1',
    'test_allows if count(data.static.waits.deny) == 0 with input as {"new": {"stages": [{"waitTime": 7200}]}}',
  ].join('\n'),
  'long.json': '{"name": "p", "stages": [{"waitTime": 7200}]}',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

test.each([
  ['check', ['check', 'long.json'], 2],
  ['eval', ['eval', '--entrypoint', 'static/waits/deny', '--input', 'long.json'], 2],
  ['test', ['test'], 1],
])('%s gives no verdict where a built-in fails, and names the rule', async (_name, args, code) => {
  const { exitCode, stdout, stderr } = await runTidegate(args, { cwd })
  expect(exitCode).toBe(code)
  expect(stdout + stderr).toContain('a built-in function fails in data.static.waits.deny: concat: operand 2')
  const env = { TIDEGATE_POLICIES_STRICT_BUILTIN_ERRORS: 'off' }
  expect((await runTidegate(args, { cwd, env })).exitCode).toBe(0)
})

test('a query is evaluated as by opa eval', async () => {
  const args = ['eval', '--input', 'long.json', '--as', 'pipeline', 'data.static.waits.deny', '-f', 'raw']
  expect(await runTidegate(args, { cwd })).toMatchObject({ exitCode: 0, stdout: '[]\n' })
})

test('check reports the call before a pipeline is saved', async () => {
  const { exitCode, stderr } = await runTidegate(['check', 'policies', '--fail-on-warning'], { cwd })
  expect(exitCode).toBe(1)
  expect(stderr).toContain('policies/waits.rego:6:36: mixed_types: s.waitTime is compared with a number')
})
