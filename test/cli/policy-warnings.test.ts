import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/hours.rego': [
    '# METADATA',
    '# title: Opening hours',
    'package static.hours',
    'import rego.v1',
    'deny contains "closed" if input.new.hour > data.hours.close',
    'deny contains "closed" if input.new.nmae == "x"',
  ].join('\n'),
  'policies/hours_test.rego': [
    'package static.hours_test',
    'import rego.v1',
    'test_closed if count(data.static.hours.deny) == 1 with input as {"new": {"hour": 3}} with data.hours as {"close": 2}',
  ].join('\n'),
  'policies/owner.rego':
    'package static.owner\nimport rego.v1\ndenied contains "nobody" if not input.new.owner\n',
  'policies/data.json': '{"hours": {"closes": 22}}',
  'pipeline.json': '{"name": "p", "stages": []}',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const DATA = [
  'warning: policies/hours.rego:5:44: undefined_data: data.hours.close is defined by neither rules nor data, so that what reads it is undefined; did you mean data.hours.closes?',
  'warning: policies/owner.rego:3:1: misnamed_verdict: denied in package static.owner is not a verdict: only deny, violation and allow are evaluated; did you mean deny?',
]
const INPUT = [
  'warning: policies/hours.rego:5:27: undefined_input: input.new.hour is in no document that the schema describes',
  'warning: policies/hours.rego:6:27: undefined_input: input.new.nmae is in no document that the schema describes; did you mean name?',
  'warning: policies/owner.rego:3:33: undefined_input: input.new.owner is in no document that the schema describes',
]

describe('what is wrong with policies that compile', () => {
  test.each([
    ['check', ['check', 'pipeline.json']],
    ['test', ['test']],
    ['build', ['build', 'policies', '-o', 'b.tar.gz']],
  ])('%s tells beside its report, and ends as without', async (_name, args) => {
    const { exitCode, stdout, stderr } = await runTidegate(args, { cwd })
    expect({ exitCode, told: stderr.trimEnd().split('\n') }).toEqual({ exitCode: 0, told: DATA })
    expect(stdout).not.toContain('warning')
    const json = await runTidegate([...args, '--format', 'json'], { cwd })
    expect(json.stderr).toBe('')
    expect(JSON.parse(json.stdout)).toMatchObject({
      warnings: [
        { code: 'undefined_data', location: { file: 'policies/hours.rego', row: 5, col: 44 } },
        { code: 'misnamed_verdict', location: { file: 'policies/owner.rego', row: 3, col: 1 } },
      ],
    })
  })

  test.each([
    ['check', ['check', '--schema', 'default']],
    ['test', ['test', '--schema', 'default']],
    ['build', ['build', 'policies', '-o', 'b.tar.gz', '--schema', 'default']],
  ])('%s tells with --schema what no document has, rows as written', async (_name, args) => {
    const { exitCode, stderr } = await runTidegate(args, { cwd })
    expect({ exitCode, told: stderr.trimEnd().split('\n') }).toEqual({
      exitCode: 0,
      told: [...DATA, ...INPUT],
    })
  })

  test.each([
    ['check', ['check', 'pipeline.json']],
    ['test', ['test']],
    ['build', ['build', 'policies', '-o', 'refused.tar.gz']],
    ['eval', ['eval', '--entrypoint', 'static/hours']],
  ])('%s refuses them where that is configured, naming all', async (_name, args) => {
    const env = { TIDEGATE_POLICIES_UNDEFINED_DATA: 'refuse' }
    const { exitCode, stderr } = await runTidegate(args, { cwd, env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('policies/hours.rego:5:44: undefined_data')
    expect(stderr).toContain('policies/owner.rego:3:1: misnamed_verdict')
    expect(existsSync(join(cwd, 'refused.tar.gz'))).toBe(false)
  })

  test.each([
    ['check', ['check', 'pipeline.json', '--fail-on-warning']],
    ['check of directories', ['check', 'policies', '--fail-on-warning']],
    ['check --strict', ['check', '--strict']],
    ['check --strict of directories', ['check', '--strict', 'policies']],
    ['test', ['test', '--fail-on-warning']],
    ['build', ['build', 'policies', '-o', 'warned.tar.gz', '--fail-on-warning']],
  ])('%s exits with 1 for them, and writes no bundle', async (_name, args) => {
    const { exitCode, stderr } = await runTidegate(args, { cwd })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(DATA.join('\n'))
    const json = await runTidegate([...args, '--format', 'json'], { cwd })
    expect(json.exitCode).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ warnings: [{ code: 'undefined_data' }, {}] })
    expect(existsSync(join(cwd, 'warned.tar.gz'))).toBe(false)
  })

  test.each([
    ['a directory that is not there', ['--schema', 'none'], /none: stat .*none: no such file/],
    ['a bundle', ['--bundle', 'b.tar.gz', '--schema', 'default'], /--schema requires policy sources/],
  ])('%s is no place for --schema', async (_name, args, message) => {
    await runTidegate(['build', 'policies', '-o', 'b.tar.gz'], { cwd })
    const { exitCode, stderr } = await runTidegate(['check', ...args], { cwd })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})
