import { afterAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'mixed/p.rego': 'package p\nimport rego.v1\ndeny contains "<no>" if input.x == 1\n',
  'mixed/p_test.rego': [
    'package p_test',
    'import rego.v1',
    'import data.p',
    'test_good if p.deny == {"<no>"} with input as {"x": 1}',
    'test_bad if {',
    '\tgot := p.deny with input as {"x": 2}',
    '\tprint("<seen>")',
    '\tgot == {"<no>"}',
    '}',
    'todo_test_later if p.deny == set()',
    'f(x) := 1 if x',
    'f(x) := 2 if x',
    'test_conflict if f(true) == 1',
  ].join('\n'),
  'passing/p_test.rego': 'package p_test\nimport rego.v1\ntest_x if 1 == 1\n',
  'different/p_test.rego': 'package p_test\ntest_env { count(opa.runtime().env) > 0 }\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const runTests = (...args: readonly string[]) => runTidegate(['test', ...args], { cwd })
const CONFLICT = 'eval_conflict_error: functions must not produce multiple outputs for same inputs'

describe('test --format junit', () => {
  test('gives failures, errors and skips with file and line', async () => {
    const { exitCode, stdout, stderr } = await runTests('mixed', '--format', 'junit')
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
    const totals = 'tests="4" failures="1" errors="1" skipped="1"'
    expect(stdout).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuites name="tidegate test" ${totals}>`,
        `  <testsuite name="p_test" ${totals}>`,
        '    <testcase classname="p_test" name="test_good" file="mixed/p_test.rego" line="4"/>',
        '    <testcase classname="p_test" name="test_bad" file="mixed/p_test.rego" line="5"><failure message="the result is not true">the result is not true',
        'mixed/p_test.rego:5',
        '&lt;seen&gt;\nmixed/p_test.rego:8:\n  got == {&quot;&lt;no&gt;&quot;}\n  |\n  set()</failure></testcase>',
        '    <testcase classname="p_test" name="todo_test_later" file="mixed/p_test.rego" line="10"><skipped message="todo_ tests do not run"/></testcase>',
        `    <testcase classname="p_test" name="test_conflict" file="mixed/p_test.rego" line="13"><error message="${CONFLICT}">${CONFLICT}`,
        'mixed/p_test.rego:13</error></testcase>',
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    )
  })

  test('reports as failures what else fails the run', async () => {
    const { exitCode, stdout } = await runTests('different', '--format', 'junit', '--threshold', '50')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('<testsuites name="tidegate test" tests="3" failures="2"')
    expect(stdout).toContain('<failure message="pass in opa, fail when served as WebAssembly">')
    expect(stdout).toContain('<failure message="coverage of 0 % is below the required 50 %">')
  })
})

describe('test --format tap', () => {
  test('gives failures, errors and skips with file and line', async () => {
    const { exitCode, stdout, stderr } = await runTests('mixed', '--format', 'tap')
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
    expect(stdout).toBe(
      [
        'TAP version 14',
        '1..4',
        'ok 1 - p_test.test_good',
        'not ok 2 - p_test.test_bad',
        '  ---',
        '  message: "the result is not true"',
        '  severity: fail',
        '  at:',
        '    file: "mixed/p_test.rego"',
        '    line: 5',
        '  output:',
        '    - "<seen>"',
        '    - "mixed/p_test.rego:8:"',
        String.raw`    - "  got == {\"<no>\"}"`,
        '    - "  |"',
        '    - "  set()"',
        '  ...',
        'ok 3 - p_test.todo_test_later # SKIP todo_ tests do not run',
        'not ok 4 - p_test.test_conflict',
        '  ---',
        `  message: "${CONFLICT}"`,
        '  severity: error',
        '  at:',
        '    file: "mixed/p_test.rego"',
        '    line: 13',
        '  ...',
        '',
      ].join('\n'),
    )
  })

  test('reports an error of the command as text on standard error', async () => {
    const { exitCode, stdout, stderr } = await runTests('absent', '--format', 'tap')
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^tidegate: read policies: .* not found: name existing policies/)
  })
})

describe('a failed test', () => {
  test('shows the failed expression and the values of its variables', async () => {
    const { exitCode, stdout } = await runTests('mixed')
    expect(exitCode).toBe(1)
    expect(stdout).toContain(
      [
        'fail   p_test.test_bad  mixed/p_test.rego:5',
        '       <seen>',
        '       mixed/p_test.rego:8:',
        '         got == {"<no>"}',
        '         |',
        '         set()',
        '',
      ].join('\n'),
    )
  })

  test('gives them in JSON, for failed tests alone', async () => {
    const { stdout } = await runTests('mixed', '--var-values', '--format', 'json')
    const { tests } = JSON.parse(stdout) as { tests: Record<string, unknown>[] }
    const valuesOf = (wanted: string) => tests.find(({ name }) => name === wanted)?.['values']
    expect(valuesOf('test_bad')).toEqual([
      { file: 'mixed/p_test.rego', row: 8, text: 'got == {"<no>"}\n|\nset()' },
    ])
    expect(valuesOf('test_good')).toBeUndefined()
  })
})

describe('test --bench', () => {
  test('measures the passing tests, also next to failing ones', async () => {
    const { exitCode, stdout } = await runTests('mixed', '--bench', '--format', 'json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      benchmarks: [{ rule: 'p_test.test_good', file: 'mixed/p_test.rego', row: 4 }],
      summary: { tests: 4, passed: 1 },
    })
  })

  test('shows a table', async () => {
    const { exitCode, stdout } = await runTests('passing', '--bench')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^ *runs +ns\/run +bytes\/run +allocations\/run {2}benchmark\n *\d+ +\d+ +\d+ +\d+ {2}p_test\.test_x\n/,
    )
  })

  test('refuses formats that have no benchmarks', async () => {
    expect(await runTests('passing', '--bench', '--format', 'tap')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'tidegate: --bench has no format tap: use text or json\n',
    })
  })
})
