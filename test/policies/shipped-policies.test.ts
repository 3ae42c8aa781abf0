import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { policiesFolder } from '../support/sample-cases.js'

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
