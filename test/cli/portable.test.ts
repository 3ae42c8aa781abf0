import { afterAll, describe, expect, test } from 'vitest'

import { ROOT, runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const V1 = 'import rego.v1\n'
const workspace = makeWorkspace({
  'plain/p.rego': `package static.plain\n${V1}deny contains s.name if some s in input.new.stages\n`,
  'plain/p_test.rego': `package static.plain_test\n${V1}test_deny if count(data.static.plain.deny) == 1 with input as {"new": {"stages": [{"name": "a"}]}}\n`,
  'bound/p.rego': `package static.bound\n${V1}deny contains "late" if time.clock(input.new.at)[0] > 20\ndeny contains sprintf("%v", [s]) if some s in input.new.stages\n`,
  'bound/p_test.rego': `package static.bound_test\n${V1}test_text if sprintf("%v", [{"a": 1}]) == "{\\"a\\": 1}"\ntest_hour if time.clock(0) == [0, 0, 0]\ntest_sum if 1 + 1 == 2\n`,
  'pipeline.json': '{"name": "p", "at": 0, "stages": [{"name": "b"}, {"name": "a"}]}',
  'one.json': '{"name": "p", "at": false, "stages": [{"name": "a", "flags": {"x": 1}}]}',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const portable = async (...args: readonly string[]) => {
  const run = await runTidegate([...args, '--portable'], { cwd })
  const json = await runTidegate([...args, '--portable', '--format', 'json'], { cwd })
  const { portability } = JSON.parse(json.stdout) as { portability: unknown }
  expect(json.exitCode).toBe(run.exitCode)
  return { exitCode: run.exitCode, sum: run.stdout.trimEnd().split('\n').at(-1), portability }
}

describe('--portable asks the plain host', () => {
  test('about definitions, and takes sets in another order for the same', async () => {
    expect(await portable('check', '--policies', 'plain', 'pipeline.json')).toEqual({
      exitCode: 1,
      sum: '@open-policy-agent/opa-wasm: 1 answer: 1 equal, 0 different, 0 lacking a built-in',
      portability: { same: 1, skipped: 0, findings: [] },
    })
  })

  test('and tells the built-in that it lacks', async () => {
    const { sum, portability } = await portable('check', '--policies', 'bound', 'pipeline.json')
    expect(sum).toContain('1 answer: 0 equal, 0 different, 1 lacking a built-in')
    expect(portability).toMatchObject({
      findings: [
        {
          rule: 'data.static.bound.deny',
          subject: 'pipeline.json "p"',
          kind: 'lacking',
          message: 'it has no built-in time.clock',
        },
      ],
    })
  })

  test('for the value of every test rule, and fails where one is another', async () => {
    const { exitCode, portability } = await portable('test', 'bound')
    expect(exitCode).toBe(1)
    expect(portability).toMatchObject({
      same: 1,
      findings: [
        {
          rule: 'data.static.bound_test.test_text',
          kind: 'different',
          message: 'here true, there undefined',
        },
        { rule: 'data.static.bound_test.test_hour', kind: 'lacking' },
      ],
    })
    expect((await portable('test', 'plain')).exitCode).toBe(0)
  })

  test('of a bundle, of which it asks the module that the bundle holds', async () => {
    await runTidegate(['build', 'plain', '-o', 'plain.tar.gz'], { cwd })
    const { portability } = await portable('check', '--bundle', 'plain.tar.gz', 'pipeline.json')
    expect(portability).toMatchObject({ same: 1, findings: [] })
  })

  test('as the oracle of the policies that come along, for all example pipelines', async () => {
    const args = ['check', '--portable', '--format', 'json', 'test/cases/pipelines']
    const { stdout } = await runTidegate(args, { cwd: ROOT })
    const { portability } = JSON.parse(stdout) as { portability: { same: number; findings: unknown[] } }
    expect(portability.findings).toEqual([])
    expect(portability.same).toBeGreaterThan(100)
  })
})
