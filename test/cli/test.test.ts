import { afterAll, describe, expect, test } from 'vitest'

import { usesNewerOpa } from '../support/compilers.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/old.rego': 'package old\nallow { input.x == 1 }\nother { input.x == 2 }\n',
  'policies/new.rego': 'package new\nreasons contains "no" if input.x == 1\n',
  'policies/old_test.rego':
    'package old_test\nimport data.old\ntest_allow { old.allow with input as {"x": 1} }\n',
  'policies/new_test.rego':
    'package new_test\nimport data.new\ntest_reasons if new.reasons == {"no"} with input as {"x": 1}\n',
  'failing/p_test.rego': [
    'package p_test',
    'test_good { true }',
    'test_bad { print("seen", 1); 1 == 2 }',
    'todo_test_later { true }',
    'f(x) = 1 { x }',
    'f(x) = 2 { x }',
    'test_conflict { f(true) == 1 }',
  ].join('\n'),
  'values/p_test.rego':
    'package p_test\nimport rego.v1\ntest_text := "yes"\ntest_zero := 0\ntest_null := null\ntest_object := {"a": true}\ntest_true := true\n',
  'cases/p_test.rego': [
    'package p_test',
    'import rego.v1',
    'test_sizes[name] if {',
    '\tsome name, size in {"small": 1, "large": 3}',
    '\tsize < 2',
    '}',
  ].join('\n'),
  'different/p_test.rego': 'package p_test\ntest_env { count(opa.runtime().env) > 0 }\n',
  'quoted/p.rego': 'package p["a-b"]\nallow = true\n',
  'quoted/p_test.rego': 'package p["a-b"].c_test\nimport data.p\ntest_x { p["a-b"].allow }\n',
  'untested/p.rego': 'package p\nallow = true\n',
  'later/p_test.rego': 'package p_test\ntest_x { true }\ntodo_test_later { true }\n',
  'interpolated/p.rego':
    'package p\nimport rego.v1\ndeny contains $"{input.user} may not" if not input.admin\nother if input.b\n',
  'interpolated/p_test.rego':
    'package p_test\nimport rego.v1\nimport data.p\ntest_x if p.deny == {"ann may not"} with input as {"user": "ann"}\n',
  'broken/p_test.rego': 'package p\ntest_x {\n',
  'helped/p.rego': 'package p\nallow { data.helpers.yes }\n',
  'helped/p_test.rego': 'package helpers\nyes = true\ntest_allow { data.p.allow }\n',
  'unserved/p.rego': 'package p\nallow { data.helpers.yes(1) }\n',
  'unserved/p_test.rego': 'package helpers\nyes(x) { x == 1 }\ntest_allow { data.p.allow }\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const runTests = (...args: readonly string[]) => runTidegate(['test', ...args], { cwd })

describe('test', () => {
  test('passes the default directory, both versions mixed, and shows what is not covered', async () => {
    expect(await runTests('--coverage')).toEqual({
      exitCode: 0,
      stdout: [
        'coverage  file               uncovered lines',
        ' 100.0 %  policies/new.rego',
        '  50.0 %  policies/old.rego  3',
        '  66.6 %  all files',
        '',
        '2 tests: 2 passed, 0 failed, all the same when served as WebAssembly',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  test('exits with 1 below the threshold', async () => {
    const { exitCode, stdout } = await runTests('--threshold', '70')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('coverage of 66.6 % is below the required 70 %\n')
  })

  test('measures the coverage of modules with template strings', async () => {
    const { exitCode, stdout, stderr } = await runTests('interpolated', '--coverage')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/ 66\.6 % {2}interpolated\/p\.rego {2}4|50\.0 % {2}interpolated\/p\.rego {2}4/)
  })

  test('runs only what --run matches', async () => {
    const { exitCode, stdout } = await runTests('--run', 'new_test', '--format', 'json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      tests: [
        {
          package: 'new_test',
          name: 'test_reasons',
          file: 'policies/new_test.rego',
          row: 3,
          outcome: 'pass',
        },
      ],
      summary: { tests: 1, passed: 1, failed: 0 },
    })
  })

  test('exits with 1 and shows where a test failed, why, and what it printed', async () => {
    const { exitCode, stdout } = await runTests('failing', '--coverage')
    expect(exitCode).toBe(1)
    expect(stdout).toBe(
      [
        'fail   p_test.test_bad  failing/p_test.rego:3',
        '       seen 1',
        '       failing/p_test.rego:3:',
        '         1 == 2',
        'skip   p_test.todo_test_later  failing/p_test.rego:4',
        'error  p_test.test_conflict  failing/p_test.rego:7',
        '       eval_conflict_error: functions must not produce multiple outputs for same inputs',
        '',
        'coverage: no lines measured',
        '',
        '4 tests: 1 passed, 2 failed, 1 skipped, all the same when served as WebAssembly',
        '',
      ].join('\n'),
    )
  })

  test('does not pass while a test is still to be written, as opa test does not', async () => {
    const { exitCode, stdout } = await runTests('later')
    expect(exitCode).toBe(1)
    expect(stdout).toContain(
      '2 tests: 1 passed, 0 failed, 1 skipped, all the same when served as WebAssembly',
    )
  })

  test('takes nothing but true for a test that passes, as OPA does', async () => {
    const { exitCode, stdout } = await runTests('values')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('5 tests: 1 passed, 4 failed, all the same when served as WebAssembly\n')
  })

  test.skipIf(!usesNewerOpa())(
    'tells which cases of a test failed (from OPA 1.2 on; skipped with 0.70)',
    async () => {
      const { exitCode, stdout } = await runTests('cases')
      expect(exitCode).toBe(1)
      expect(stdout).toContain('       case failed: large\n')
      expect(stdout).not.toContain('case passed')
      expect((await runTests('cases', '--verbose')).stdout).toContain('       case passed: small\n')
      expect(stdout).toContain('1 test: 0 passed, 1 failed, all the same when served as WebAssembly\n')
    },
  )

  test('fails a test that ends otherwise when it is served', async () => {
    const { exitCode, stdout } = await runTests('different')
    expect(exitCode).toBe(1)
    expect(stdout).toContain(
      'diff   p_test.test_env  different/p_test.rego:2\n       passes in opa, fails when served as WebAssembly\n',
    )
    expect(stdout).toContain('1 test: 1 passed, 0 failed, 1 different when served as WebAssembly\n')
  })

  test('finds the rules of a package whose name must be quoted', async () => {
    const { exitCode, stdout } = await runTests('quoted', '--threshold', '100')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('1 test: 1 passed, 0 failed, all the same when served as WebAssembly\n')
  })

  test('refuses policies that load only with their tests', async () => {
    expect(await runTests('helped')).toMatchObject({ exitCode: 0 })
    const { exitCode, stdout, stderr } = await runTests('unserved')
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('unserved/p.rego:2:9: rego_type_error: undefined function data.helpers.yes')
  })

  test.each([
    [['untested'], /^tidegate: there is no rule whose name starts with test_\n$/],
    [['policies', '--run', 'nothing'], /^tidegate: no test matches nothing\n$/],
    [['policies', '--run', 'a('], /^tidegate: opa test cannot run\nopa_error: error parsing regexp: /],
    [['broken'], /^tidegate: error\(s\) .*\nbroken\/p_test\.rego:\d+: rego_parse_error: /],
    [['absent'], /^tidegate: read policies: .* not found: name existing policies/],
  ])('%j ends with 2', async (args, message) => {
    const { exitCode, stdout, stderr } = await runTests(...args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
