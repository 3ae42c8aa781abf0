import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { policiesFolder } from '../support/sample-cases.js'
import { makeWorkspace } from '../support/workspace.js'

const files = readdirSync(policiesFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.rego'),
)

describe('the example policies', () => {
  test.each(files)('import rego.v1 in %s, so that every OPA reads it as Rego v1', (file) => {
    expect(readFileSync(join(policiesFolder, file), 'utf8')).toMatch(/^import rego\.v1$/m)
  })

  test.skipIf(newerOpa() === undefined)('are strict Rego v1 whose tests pass in OPA 1.x', () => {
    const opa = (...args: readonly string[]) =>
      execFileSync(newerOpa() ?? '', [...args, policiesFolder], { encoding: 'utf8' })
    expect(opa('check', '--strict')).toBe('')
    expect(opa('test')).toMatch(/^PASS: (\d+)\/\1$/m)
    expect(opa('fmt', '--list')).toBe('')
  })
})

test.skipIf(newerOpa() === undefined)('the policy of the guide compiles, and its tests pass', () => {
  const guide = readFileSync(join(PROJECT_ROOT, 'docs/guides/write-a-policy.md'), 'utf8')
  const blocks = [...guide.matchAll(/^```rego\n(.*?)^```$/gms)].map(([, text = '']) => text)
  const [rule, setting, tests] = blocks
  expect(blocks).toHaveLength(3)
  const more = [
    'test_the_default_applies if {',
    '  count(description.deny) == 1 with input as {"new": {"description": "0123456789a", "stages": numbers.range(1, 11)}}',
    '}',
    'test_the_setting_applies if {',
    '  count(description.deny) == 0 with input as {"new": {"description": "0123456789a", "stages": numbers.range(1, 11)}} with data.limits.stages as 20',
    '}',
  ]
  const { path, remove } = makeWorkspace({
    'description.rego': `${rule}\n${setting}`,
    'description_test.rego': `${tests}\n${more.join('\n')}`,
  })
  const opa = (...args: readonly string[]) =>
    execFileSync(newerOpa() ?? '', [...args, path], { encoding: 'utf8' })
  expect(opa('check', '--strict')).toBe('')
  expect(opa('test')).toMatch(/^PASS: 4\/4$/m)
  remove()
})
