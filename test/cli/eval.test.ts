import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ROOT, runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/old.rego': [
    'package old',
    'allow { input.user == "ann" }',
    'twice = "a" { input.both }',
    'twice = "b" { input.both }',
    'echo = input',
    'ratio = input.a / input.b',
    'pair[x] { x := ["b", "a"][_] }',
  ].join('\n'),
  'policies/new.rego':
    'package new.deep\nreasons contains "no" if not data.settings.open\nlast := {"b": 1, "a": [2]}\n',
  'policies/settings/data.json': '{"open": false, "limit": 1.50}',
  'policies/static.rego': 'package static\necho = input\ndeny["no"] { false }\n',
  'policies/system.rego': 'package system\nmain = {"allow": true}\n',
  'explained/app.rego':
    'package app\n\ndefault allow = false\nallow { input.user\n  input.user == data.app.owner\n}\n',
  'explained/app/data.json': '{"owner": "bob"}',
  'ann.json': '{"user": "ann"}',
  'ann.yaml': 'user: ann\n',
  'latin1.json': '',
  'both.json': '{"both": true}',
  'broken.json': '{"user": }',
  'two.json': '{} {}',
  'cut.json': '{"user": "ann"',
  'broken.tar.gz': 'no archive',
  'unfinished/p.rego': 'package p\nallow { input.x == }\n',
  'untyped/p.rego': 'package p\nallow { y == 1 }\n',
  'calling/p.rego': 'package p\nallow {\n  http.send({"method": "get", "url": "http://127.0.0.1:1"})\n}\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

/** Runs eval with a bundle, which needs no compiler and starts faster. */
const asked = (...args: readonly string[]) => runTidegate(['eval', '--bundle', 'b.tar.gz', ...args], { cwd })

beforeAll(async () => {
  writeFileSync(join(cwd, 'latin1.json'), Buffer.from('{"user": "J\u00f6rg"}', 'latin1'))
  await runTidegate(['build', 'policies', '-o', 'b.tar.gz'], { cwd })
})

describe('eval prints what the Data API answers', () => {
  test.each([
    ['the default decision', [], '{"result":{"allow":true}}'],
    ['a rule of version 0', ['--entrypoint', 'old/allow', '--input', 'ann.json'], '{"result":true}'],
    ['a rule in dots', ['--entrypoint', 'data.old.allow', '--input', 'ann.json'], '{"result":true}'],
    [
      'a rule with slashes before it',
      ['--entrypoint', '/old/allow', '--input', 'ann.json'],
      '{"result":true}',
    ],
    ['a rule of version 1', ['--entrypoint', 'new/deep/reasons'], '{"result":["no"]}'],
    [
      'a package with sorted keys',
      ['--entrypoint', 'new/deep'],
      '{"result":{"last":{"a":[2],"b":1},"reasons":["no"]}}',
    ],
    ['a value inside a rule', ['--entrypoint', 'new/deep/last/a/0'], '{"result":2}'],
    ['data with its number texts', ['--entrypoint', 'settings'], '{"result":{"limit":1.50,"open":false}}'],
    ['a set in order', ['--entrypoint', 'old/pair'], '{"result":["a","b"]}'],
    ['YAML input', ['--entrypoint', 'old/allow', '--input', 'ann.yaml'], '{"result":true}'],
    ['input in ISO-8859-1', ['--entrypoint', 'old/echo/user', '--input', 'latin1.json'], '{"result":"Jörg"}'],
    ['a denial, which is a value like any other', ['--entrypoint', 'new/deep/reasons'], '{"result":["no"]}'],
    [
      'indented',
      ['--pretty', '--entrypoint', 'new/deep/last'],
      '{\n  "result": {\n    "a": [\n      2\n    ],\n    "b": 1\n  }\n}',
    ],
  ])('%s', async (_name, args, answer) => {
    expect(await asked(...args)).toEqual({ exitCode: 0, stdout: `${answer}\n`, stderr: '' })
  })

  test.each([
    ['a rule', 'old/allow', 'data.old.allow is undefined for this input'],
    [
      'a value below a rule',
      'new/deep/last/c',
      'data.new.deep.last has nothing there for this input: data.new.deep.last.c',
    ],
    [
      'a rule that is written otherwise',
      'old/alow',
      'nothing is called data.old.alow; did you mean data.old.allow? data.old has allow, echo, pair, ratio, twice',
    ],
    [
      'a package above which one is left out',
      'deep/last',
      'nothing is called data.deep.last; did you mean data.new.deep.last? data has new, old, settings, static, system',
    ],
    [
      'data',
      'settings/limits',
      'nothing is called data.settings.limits; did you mean data.settings.limit? data.settings has limit, open',
    ],
    [
      'nothing near',
      'settings/at/all',
      'nothing is called data.settings.at.all; data.settings has limit, open',
    ],
  ])('%s that is undefined, and says what there is', async (_name, path, note) => {
    expect(await asked('--entrypoint', path)).toEqual({ exitCode: 0, stdout: '{}\n', stderr: `${note}\n` })
    const json = await asked('--entrypoint', path, '--format', 'json')
    expect(json).toEqual({ exitCode: 0, stdout: '{}\n', stderr: '' })
  })

  test.each(['null', 'false', '12345678901234567890', '-0.10e1'])(
    'the input %s from standard input, as written',
    async (stdin) => {
      const args = ['eval', '--bundle', 'b.tar.gz', '--entrypoint', 'old/echo', '--input', '-']
      expect(await runTidegate(args, { cwd, stdin: ` ${stdin}\n` })).toEqual({
        exitCode: 0,
        stdout: `{"result":${stdin}}\n`,
        stderr: '',
      })
    },
  )

  test('of directories of Rego, both versions mixed', async () => {
    const args = ['eval', '--policies', 'policies', '--entrypoint', 'new/deep/reasons']
    expect(await runTidegate(args, { cwd })).toEqual({
      exitCode: 0,
      stdout: '{"result":["no"]}\n',
      stderr: '',
    })
  })

  test('of the directories and the default decision that the configuration names', async () => {
    const env = {
      TIDEGATE_POLICIES_BUNDLES: 'b.tar.gz',
      TIDEGATE_POLICIES_DEFAULT_DECISION: '/new/deep/last',
    }
    const { stdout } = await runTidegate(['eval'], { cwd, env })
    expect(stdout).toBe('{"result":{"a":[2],"b":1}}\n')
  })
})

describe('--eval FILE', () => {
  test('asks the policies in the current directory', async () => {
    expect(await runTidegate(['--eval', 'ann.json'], { cwd })).toEqual({
      exitCode: 0,
      stdout: '{"result":{"allow":true}}\n',
      stderr: '',
    })
  })

  test('asks the policies that come with the package where there are none', async () => {
    const input = join(ROOT, 'test/cases/pipelines/deny-missing-roles.json')
    const { exitCode, stdout } = await runTidegate(['--eval', input, '--format', 'json'], {
      cwd: join(cwd, 'unfinished'),
    })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ result: { allow: false } })
  })
})

describe('the input of a static policy is read as check reads it', () => {
  const DEFINITION = '{"name":"p","stages":[]}'
  const NOTE = (form: string) =>
    `evaluated as ${form}, like tidegate check; use --as raw for the document itself\n`

  test.each([
    ['a definition', 'static/echo', DEFINITION, [], `{"new":${DEFINITION}}`, NOTE('{"new": ...}')],
    ['a request', 'static/echo', '{"input":{"new":{}}}', [], '{"new":{}}', NOTE('the contents of "input"')],
    ['what is wrapped', 'static/echo', '{"new":{}}', [], '{"new":{}}', ''],
    ['any other object', 'static/echo', '{"user":"ann"}', [], '{"user":"ann"}', ''],
    ['no object', 'static/echo', '[1]', [], '[1]', ''],
    ['--as raw', 'static/echo', DEFINITION, ['--as', 'raw'], DEFINITION, ''],
    [
      '--as application',
      'static/echo',
      '{"name":"shop"}',
      ['--as', 'application'],
      '{"app":{"name":"shop"}}',
      '',
    ],
    ['--as pipeline of any policy', 'old/echo', '{"a":1}', ['--as', 'pipeline'], '{"new":{"a":1}}', ''],
    ['another policy', 'old/echo', DEFINITION, [], DEFINITION, ''],
  ] as const)('%s', async (_name, path, stdin, flags, input, stderr) => {
    const args = ['eval', '--bundle', 'b.tar.gz', '--entrypoint', path, '--input', '-', ...flags]
    const run = await runTidegate(args, { cwd, stdin })
    expect(run).toEqual({ exitCode: 0, stdout: `{"result":${input}}\n`, stderr })
  })
})

describe('a fault ends eval with 2', () => {
  test.each([
    [
      'input that is not JSON',
      ['--input', 'broken.json'],
      /^tidegate: broken\.json:1:\d+: invalid character '}' looking for beginning of value\n$/,
    ],
    ['input that is cut', ['--input', 'cut.json'], /^tidegate: cut\.json: unexpected EOF\n$/],
    [
      'text behind the input',
      ['--input', 'two.json'],
      /^tidegate: two\.json:\d+:\d+: invalid character '{' after top-level value\n$/,
    ],
    [
      'empty standard input',
      ['--input', '-'],
      /^tidegate: standard input is empty; an empty list is \[\]\n$/,
    ],
    ['input that is not there', ['--input', 'absent.json'], /^tidegate: file absent\.json not found\n$/],
    ['input that is a directory', ['--input', 'policies'], /^tidegate: read policies: EISDIR: [^\n]*\n$/],
    [
      'a conflict, and where it is',
      ['--entrypoint', 'old/twice', '--input', 'both.json'],
      /^tidegate: error\(s\) occurred while evaluating query\n[^\n]*old\.rego:\d:1: eval_conflict_error: complete rules must not produce multiple outputs\n$/,
    ],
  ])('%s', async (_name, args, stderr) => {
    const run = await asked(...args)
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toMatch(stderr)
  })

  test.each([
    [
      'a bundle that is none',
      ['--bundle', 'broken.tar.gz'],
      /^tidegate: read bundle broken\.tar\.gz: incorrect header check\n$/,
    ],
    [
      'a bundle that is not there',
      ['--bundle', 'absent.tar.gz'],
      /^tidegate: read bundle absent\.tar\.gz: ENOENT/,
    ],
    [
      'a directory that is not there',
      ['--policies', 'absent'],
      /^tidegate: read policies: [^\n]*absent not found: name existing policies \([^\n]*\n$/,
    ],
    [
      'Rego that does not parse',
      ['--policies', 'unfinished'],
      /^tidegate: error\(s\) occurred while compiling module\(s\)\nunfinished\/p\.rego:2:20: rego_parse_error: /,
    ],
    [
      'Rego that does not compile',
      ['--policies', 'untyped'],
      /\nuntyped\/p\.rego:2:9: rego_unsafe_var_error: var y is unsafe\n {4}allow \{ y == 1 \}\n {12}\^\n$/,
    ],
    [
      'a built-in that is not there',
      ['--policies', 'calling'],
      /not available: http\.send\ncalling\/p\.rego:3:3: missing_builtin: built-in function http\.send is not available: add the hosts to policies\.requests\.allowedHosts\n {4}http\.send\(.*\n {4}\^\n$/,
    ],
    [
      'an opa that is not there',
      ['--policies', 'policies', '--opa', 'absent'],
      /^tidegate: the opa program named by --opa is not there or is not an executable file: absent\n$/,
    ],
    [
      'a configuration that is not there',
      ['--config', 'absent.yaml'],
      /^tidegate: read configuration: absent\.yaml not found\n$/,
    ],
  ])('%s', async (_name, args, stderr) => {
    const run = await runTidegate(['eval', ...args], { cwd })
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toMatch(stderr)
    expect(run.stderr).not.toMatch(/^ +at /m)
  })

  test('a built-in that fails, with --strict-builtin-errors only', async () => {
    const args = ['--entrypoint', 'old/ratio', '--input', '-', '--format', 'json']
    const stdin = '{"a": 1, "b": 0}'
    const lenient = await runTidegate(['eval', '--bundle', 'b.tar.gz', ...args], { cwd, stdin })
    expect(lenient).toEqual({ exitCode: 0, stdout: '{}\n', stderr: '' })
  })

  test('an evaluation that fails is a JSON object in the shape of OPA with --format json', async () => {
    const args = ['--policies', 'policies', '--entrypoint', 'old/twice', '--input', 'both.json']
    const { exitCode, stdout, stderr } = await runTidegate(['eval', ...args, '--format', 'json'], { cwd })
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      code: 'internal_error',
      message: 'error(s) occurred while evaluating query',
      errors: [
        {
          code: 'eval_conflict_error',
          message: 'complete rules must not produce multiple outputs',
          location: { file: 'policies/old.rego', row: 4, col: 1 },
        },
      ],
    })
  })
})

test('eval --cost tells what the decision took, by package, next to the answer', async () => {
  const args = ['--entrypoint', 'old/allow', '--input', 'ann.json', '--cost'] as const
  const { exitCode, stdout, stderr } = await asked(...args)
  expect([exitCode, stdout]).toEqual([0, '{"result":true}\n'])
  expect(stderr).toMatch(/^\d+ old\n\d+ of \d+ loop iterations\n$/)
})

describe('eval --explain', () => {
  const explained = (...args: readonly string[]) =>
    runTidegate(
      ['eval', '--policies', 'explained', '--entrypoint', 'app/allow', '--input', 'ann.json', ...args],
      {
        cwd,
      },
    )

  test('prints the result, and to standard error the first failed condition with source line and caret', async () => {
    const { stdout, stderr } = await explained('--explain', 'fails')
    expect(stdout).toBe('{"result":false}\n')
    expect(stderr).toContain('allow did not fire  explained/app.rego:4:1')
    expect(stderr).toContain('\n        input.user == data.app.owner\n        ^\n')
    expect(stderr).toContain('input.user = "ann"\n        data.app.owner = "bob"\n')
  })

  test('adds the explanation to JSON', async () => {
    const { stdout } = await explained('--explain', 'full', '--format', 'json')
    const { result, explanation } = JSON.parse(stdout) as { result: unknown; explanation: unknown }
    expect(result).toBe(false)
    expect(explanation).toMatchObject({
      packages: [{ package: 'app', rules: [{ outcome: 'default' }, { outcome: 'not_fired', row: 4 }] }],
    })
  })

  test('says that rules of a bundle without Rego cannot be explained', async () => {
    const { stderr } = await asked('--entrypoint', 'old/allow', '--input', 'ann.json', '--explain', 'full')
    expect(stderr).toContain('b.tar.gz contains no Rego, so its rules cannot be explained')
  })
})
