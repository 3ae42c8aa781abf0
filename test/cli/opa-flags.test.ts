import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { hintForOpaFlag } from '../../src/cli/session/opa-flags.js'
import { newerOpa, olderOpa } from '../support/compilers.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'pol/p.rego': [
    'package p',
    'import rego.v1',
    'allow := false',
    'allowed if input.x == 1',
    'text := "a <b>\\n\\"q\\""',
    'o := {"b": 1.0, "a": [1, {"c": null}]}',
    'limit := data.limits.most',
    'bad := 1 / 0',
    'twice := 1 if true',
    'twice := 2 if input.x == 1',
    'endless := count([1 | some x in numbers.range(1, 100000); some y in numbers.range(1, 100000); x * y == 7])',
  ].join('\n'),
  'pol/limits/settings.json': '{"most": 7}',
  'strict/s.rego': 'package s\nimport rego.v1\ndeny contains "x" if {\n\ty := 1\n\tinput.a\n}\n',
  'broken/s.rego': 'package s\nimport rego.v1\ndeny contains "x" if input.a == b\n',
  'broken/s_test.rego': 'package s_test\nimport rego.v1\ntest_x if { y == 1 }\n',
  'beside/s.rego': 'package s\nimport rego.v1\ndeny contains "x" if input.a == b\n',
  'beside/in.json': '{"a": 1}',
  'later/p_test.rego':
    'package p_test\nimport rego.v1\ntest_a if true\ntest_b if true\ntodo_test_c if true\n',
  'rbac/users.json': '{"users": {"bob": true}}',
  'rbac/r.rego': 'package r\nimport rego.v1\nallow if data.users[input.user]\n',
  'rbac/r_test.rego':
    'package r_test\nimport rego.v1\nimport data.r\ntest_bob if r.allow with input.user as "bob"\n',
  'schemas/input.json': '{"type": "object", "properties": {"user": {"type": "string"}}}',
  'typed/t.rego':
    '# METADATA\n# schemas:\n#   - input: schema.input\npackage t\nimport rego.v1\nallow if input.usr == "a"\n',
  'strict/cases/one.json': '{}',
  'elsewhere/rules/r.rego': 'package r\nimport rego.v1\nallow if starts_with(input.x, "a")\n',
  'elsewhere/input.json': '{}',
  'types/t.rego': 'package t\nimport rego.v1\ndeny contains "x" if startswith("a", 1)\n',
  'younger/t.rego': 'package t\nimport rego.v1\ndeny contains "x" if array.flatten([input.a])\n',
  'named/policies/r.rego': 'package r\nimport rego.v1\nallow if input.a\n',
  'named/a.json': '{}',
  'in.json': '{"x": 1}',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const run = (...args: readonly string[]) => runTidegate(args, { cwd })

beforeAll(async () => {
  const { stdout } = await run('build', 'pol', '-b', '-t', 'wasm', '-r', 'seven', '-e', 'p/allow')
  writeFileSync(join(cwd, 'build.txt'), stdout)
})

describe('eval of a query prints what opa eval prints', () => {
  test.each([
    [
      'data.p.allow',
      '{\n  "result": [\n    {\n      "expressions": [\n        {\n          "value": false,\n          "text": "data.p.allow",\n          "location": {\n            "row": 1,\n            "col": 1\n          }\n        }\n      ]\n    }\n  ]\n}\n',
      [],
    ],
    ['data.p.nothing', '{}\n', []],
    ['data.p.allowed', 'true\n', ['-f', 'raw', '-i', 'in.json']],
    ['p/allowed', 'true\n', ['-f', 'raw', '--input', 'in.json']],
    ['data.p.text', 'a <b>\n"q"\n', ['-f', 'raw']],
    ['data.p.text', '"a \\u003cb\\u003e\\n\\"q\\""\n', ['-f', 'pretty']],
    ['data.p["o"]', '{"a":[1,{"c":null}],"b":1.0}\n', ['-f', 'raw']],
    ['data.p.o.a[0]', '[\n  1\n]\n', ['-f', 'values']],
    ['data.p.o', '{}\n', ['-f', 'bindings']],
    ['data.p.o', '{\n  "result": "discarded"\n}\n', ['-f', 'discard']],
    ['data.p.nothing', '', ['-f', 'raw']],
    ['data.p.nothing', '', ['-f', 'values']],
    ['data.p.nothing', '{}\n', ['-f', 'discard']],
  ])('%s: %j', async (query, stdout, flags) => {
    expect(await run('eval', '-b', 'bundle.tar.gz', ...flags, query)).toEqual({
      exitCode: 0,
      stdout,
      stderr: '',
    })
  })

  test('undefined, with why on standard error, for people', async () => {
    const { exitCode, stdout, stderr } = await run(
      'eval',
      '-b',
      'bundle.tar.gz',
      '-f',
      'pretty',
      'data.p.alow',
    )
    expect([exitCode, stdout]).toEqual([0, 'undefined\n'])
    expect(stderr).toContain('did you mean data.p.allow?')
  })

  test('errors in the JSON of standard output, with exit code 2', async () => {
    const { exitCode, stdout, stderr } = await run(
      'eval',
      '-b',
      'bundle.tar.gz',
      '-i',
      'in.json',
      'data.p.twice',
    )
    expect([exitCode, stderr]).toEqual([2, ''])
    expect(JSON.parse(stdout)).toMatchObject({ errors: [{ code: 'eval_conflict_error' }] })
  })

  test('what is more than a reference is refused, and says what to do', async () => {
    for (const query of ['data.p.o[x]', 'data.p.allow; true', '1 + 1', 'input.x', 'x := data.p']) {
      const { exitCode, stdout } = await run('eval', '-b', 'bundle.tar.gz', query)
      expect(exitCode).toBe(2)
      expect(stdout).toContain('is not a path of data. Write a rule')
    }
  })

  test('the name of a file in the place of a query is told for what it is', async () => {
    const { exitCode, stdout } = await run('eval', '-b', 'bundle.tar.gz', 'pipeline.json')
    expect(exitCode).toBe(2)
    expect(stdout).toContain("pipeline.json' is a file, not a query; pass it with --input pipeline.json")
  })
})

describe('flags of opa eval', () => {
  test.each([
    [['--fail', 'data.p.allow'], 0],
    [['--fail', 'data.p.nothing'], 1],
    [['--fail', 'data.p.bad'], 1],
    [['--fail-defined', 'data.p.allow'], 1],
    [['--fail-defined', 'data.p.nothing'], 0],
    [['--fail', '-i', 'in.json', 'data.p.twice'], 2],
    [['--strict-builtin-errors', '--fail-defined', 'data.p.bad'], 2],
    [['--fail', '--fail-defined', 'data.p.allow'], 2],
    [['-I', '-i', 'in.json', 'data.p.allow'], 2],
    [['-e', 'p/allow', 'data.p.allow'], 2],
  ])('%j exits with %i', async (args, exitCode) => {
    expect(await run('eval', '-b', 'bundle.tar.gz', '-f', 'raw', ...args)).toMatchObject({ exitCode })
  })

  test('-I reads the input from standard input', async () => {
    const args = ['eval', '-b', 'bundle.tar.gz', '-I', '-f', 'raw', 'data.p.allowed']
    expect(await runTidegate(args, { cwd, stdin: '{"x": 1}' })).toMatchObject({
      exitCode: 0,
      stdout: 'true\n',
    })
  })

  test('-d takes all JSON of a directory, -b only that which a bundle has, and -d a file', async () => {
    expect((await run('eval', '-d', 'pol', '-f', 'raw', 'data.p.limit')).stdout).toBe('7\n')
    expect((await run('eval', '-b', 'pol', '-f', 'raw', 'data.p.limit')).stdout).toBe('')
    const files = ['-d', 'pol/p.rego', '-d', 'in.json']
    expect((await run('eval', ...files, '-f', 'raw', 'data.x')).stdout).toBe('1\n')
  })

  test('--timeout bounds the evaluation', async () => {
    const args = ['eval', '-b', 'bundle.tar.gz', 'data.p.endless', '--timeout', '1ms', '-f', 'raw']
    const { exitCode, stderr } = await run(...args)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('longer than 1 ms')
    expect(await run('eval', '--timeout', 'soon', 'data.p')).toMatchObject({ exitCode: 2 })
  })
})

describe('check of Rego', () => {
  test('compiles directories with their tests, and asks nobody', async () => {
    expect(await run('check', 'strict')).toEqual({
      exitCode: 0,
      stdout: '1 package: 0 warnings\n',
      stderr: '',
    })
    const { exitCode, stderr } = await run('check', 'broken')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('broken/s.rego:3:')
    expect(stderr).toContain('broken/s_test.rego:3:')
  })

  test('and of the directory that one stands in, whatever JSON lies next to it', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['check', '.'], { cwd: join(cwd, 'beside') })
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('s.rego:3')
  })

  test('and those of -b, which opa check takes without a value', async () => {
    expect(await run('check', '-b', 'strict')).toMatchObject({
      exitCode: 0,
      stdout: '1 package: 0 warnings\n',
    })
    expect(await run('check', '--policies', 'strict')).toMatchObject({ exitCode: 2 })
  })

  test('where there are no policies to ask about the JSON, those of the directory are checked', async () => {
    const { exitCode, stderr } = await runTidegate(['check', '.'], { cwd: join(cwd, 'elsewhere') })
    expect(exitCode).toBe(2)
    expect(stderr).toContain("directory 'policies' not found")
    expect(stderr).toMatch(
      /r\.rego:3:10: rego_type_error: undefined function starts_with, did you mean startswith\?/,
    )
  })

  test('where none of the policies is asked about JSON, it says how they are checked', async () => {
    const { exitCode, stderr } = await runTidegate(['check', '.'], { cwd: join(cwd, 'named') })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('. tidegate check policies checks these policies themselves')
  })

  test('tells the types that a built-in has and wants, as opa check does', async () => {
    const { stderr } = await run('check', 'types')
    expect(stderr).toMatch(
      /startswith: invalid argument\(s\)\s+have: \(string, number\)\s+want: \(string, string/,
    )
  })

  test('with -s, what schemas do not have is an error, as for opa check', async () => {
    const { exitCode, stdout, stderr } = await run('check', '-s', 'schemas', 'typed')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('typed/t.rego:6:10: undefined_input: input.usr is in no document')
    expect(await run('check', 'typed')).toMatchObject({ exitCode: 0 })
  })

  test('names what brings a built-in that the compiler lacks', async () => {
    const { stderr } = await run('check', 'younger')
    const isOlder = /^opa +0\./m.test((await run('version')).stdout)
    expect(stderr.includes('`tidegate opa install` brings')).toBe(isOlder)
  })

  test('--strict tells what opa check --strict tells', async () => {
    const { exitCode, stderr } = await run('check', '--strict', 'strict')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('strict/s.rego:4:2: rego_compile_error: assigned var y unused')
    expect(await run('check', '-S', '--policies', 'strict')).toMatchObject({ exitCode: 2 })
  })
})

describe('flags of opa test and opa build', () => {
  test('-r, -v and -z mean the same', async () => {
    const { exitCode, stdout } = await run('test', '-b', 'later', '-r', 'test_a', '-v', '--timeout', '10s')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('pass   p_test.test_a')
    expect(stdout).not.toContain('test_b')
    expect(await run('test', 'later')).toMatchObject({ exitCode: 1 })
    expect(await run('test', '-z', 'later', '-f', 'pretty')).toMatchObject({ exitCode: 0 })
  })

  test('-d has tests read all JSON and YAML, as opa test does without -b', async () => {
    expect(await run('test', 'rbac')).toMatchObject({ exitCode: 1 })
    expect(await run('test', '-d', 'rbac')).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('build writes bundle.tar.gz unless told otherwise, and finds wrong names of entrypoints', async () => {
    const { stdout } = await run('opa', '--', 'inspect', 'bundle.tar.gz')
    expect(stdout).toMatch(/Revision +[|│] seven/)
    const { exitCode, stderr } = await run('build', 'pol', '-e', 'p/alow', '-o', 'other.tar.gz')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('no package or rule is called p/alow (did you mean p/allow?)')
  })
})

describe('each flag of opa', () => {
  const programs = [olderOpa(), newerOpa()].flatMap((path) => (path === undefined ? [] : [path]))
  const flagsOf = (help: string): string[] =>
    [...help.matchAll(/^ {2,6}(?:(?<short>-\w), )?(?<long>--[a-z0-9-]+)/gm)].flatMap(({ groups }) =>
      [groups?.['short'], groups?.['long']].filter((flag) => flag !== undefined),
    )

  test.each(['eval', 'test', 'check', 'build'])(
    'of %s is taken, or answered with what does it here',
    async (command) => {
      const helps = programs.map((opa) => execFileSync(opa, [command, '--help'], { encoding: 'utf8' }))
      const { stdout } = await run(command, '--help')
      const taken = [...flagsOf(stdout), '--v0-compatible', '--v1-compatible']
      const others = [...new Set(helps.flatMap(flagsOf))].filter((flag) => !taken.includes(flag))
      expect(others.filter((flag) => hintForOpaFlag(command, flag) === undefined)).toEqual([])
    },
  )

  test.each(['eval data.p.allow -b pol', 'check strict', 'test later -z', 'build pol'])(
    '%s: those for the version of Rego are taken',
    async (line) => {
      const flags = ['--v0-compatible', '--v1-compatible']
      expect(await run(...line.split(' '), ...flags)).toMatchObject({ exitCode: 0 })
    },
  )
})

test('a command of opa that is not here is answered with what does it', async () => {
  const unknown = "tidegate: unknown command 'run' (of opa): use tidegate serve\n"
  expect((await run('run')).stderr).toBe(unknown)
  // The command is wrong, not its first flag.
  expect((await run('run', '--server', '.')).stderr).toBe(unknown)
  expect((await run('exec', '--decision', 'a/b', '.')).stderr).toContain('use tidegate eval')
  expect((await run('fmt', '--list', '.')).stderr).toContain('use tidegate opa -- fmt')
})

test.each([
  ['eval', '--profile', 'tidegate eval --cost'],
  ['eval', '-p', 'opa eval can'],
  ['eval', '-S', 'tidegate check --strict'],
  ['test', '--count', 'use opa test'],
  ['build', '-O', 'opa build -O'],
  ['build', '--signing-plugin', 'opa sign'],
])('%s %s of opa is answered with what does it here', async (command, flag, hint) => {
  const { exitCode, stderr } = await run(command, flag)
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`unknown option '${flag}': `)
  expect(stderr).toContain(hint)
})
