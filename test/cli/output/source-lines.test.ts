import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { errorText } from '../../../src/cli/output/report-failure.js'
import { runTidegate } from '../../support/run-tidegate.js'
import { makeWorkspace } from '../../support/workspace.js'

const LONG = `p if ${'x == 1; '.repeat(40)}`
const workspace = makeWorkspace({
  'policies/p.rego': 'package p\nimport rego.v1\ndeny contains "日本" if {\n\tfoo("é", 1)\n}\n',
  'a.rego': `package a\n\tdeny contains "日本" if foo(1)\r\n\n${LONG}\n`,
  'a.json': '{"secret": 1}',
})
afterAll(workspace.remove)

/** The lines of the text that follow the message and its detail. */
function linesFor(row: number, col: number, file = 'a.rego'): string[] {
  const location = { file: join(workspace.path, file), row, col }
  const details = [{ code: 'rego_type_error', message: 'wrong', location }]
  return errorText(new AppError('invalid', 'error', { details }))
    .split('\n')
    .slice(2, -1)
}

describe('an error in a Rego file', () => {
  test('shows the line and a caret under the column, as wide as characters are', () => {
    expect(linesFor(2, 25)).toEqual(['    deny contains "日本" if foo(1)', '                             ^'])
  })

  test('shows a long line around the column', () => {
    const [line = '', caret = ''] = linesFor(4, 246)
    expect(line.length).toBeLessThanOrEqual(104)
    expect(caret).toBe(`${' '.repeat(84)}^`)
    expect(line.slice(84, 90)).toBe(LONG.slice(245, 251))
  })

  test('shows the line alone if the column is unknown or outside it', () => {
    const line = '    deny contains "日本" if foo(1)'
    expect([linesFor(2, 0), linesFor(2, 99)]).toEqual([[line], [line]])
  })

  test.each([
    ['a blank line', 3, 'a.rego'],
    ['a line after the end', 99, 'a.rego'],
    ['a file that cannot be read', 1, 'b.tar.gz/a.rego'],
    ['a file that is no Rego', 1, 'a.json'],
  ])('shows nothing for %s', (_name, row, file) => {
    expect(linesFor(row, 1, file)).toEqual([])
  })

  test('shows it in text and not in JSON', async () => {
    const run = (...args: readonly string[]) =>
      runTidegate(['check', 'policies', ...args], { cwd: workspace.path })
    const { exitCode, stderr } = await run()
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      /^policies\/p\.rego:4:2: rego_type_error: undefined function foo.*\n {4}foo\("é", 1\)\n {4}\^\n$/m,
    )
    const { stdout } = await run('--format', 'json')
    expect(stdout).toContain('"message": "undefined function foo')
    expect(stdout).not.toContain('^')
  })
})
