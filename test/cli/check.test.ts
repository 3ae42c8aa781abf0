import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const LONG = '{"name": "slow", "stages": [{"wait": 9007199254740993}]}'
/** 54,000 nodes of 690: the limit on aliases allows it once, and not in 40 documents of a file. */
const ALIASES = `name: aliases\nstages: []\nx: &x [${'y, '.repeat(600)}]\nz: [${'*x, '.repeat(90)}]\n`
const SHORT = '{"name": "quick", "stages": [{"wait": 1}]}'
const workspace = makeWorkspace({
  'policies/wait.rego': [
    'package static.wait',
    'import rego.v1',
    'deny contains sprintf("waits %v s", [s.wait]) if {',
    '  some s in input.new.stages',
    '  s.wait > 60',
    '}',
    'deny contains "no roles" if input.app.name == "bare"',
    'broken := 1 if input.new.name == "odd"',
    'broken := 2 if input.new.name == "odd"',
    'deny contains "odd" if broken == 3',
  ].join('\n'),
  'policies/owner.rego': 'package static.owner\ndeny[{"msg": "nobody owns it"}] { input.new.owner == "" }\n',
  'team/owner.rego': 'package team.owner\ndeny["nobody"] { not input.new.owner }\n',
  'runtime/p.rego': 'package runtime.p\nallow = true\n',
  'slow.json': LONG,
  'quick.json': SHORT,
  'odd.json': '{"name": "odd", "stages": []}',
  'tree/a.json': SHORT,
  'tree/deeper/b.json': LONG,
  'tree/deeper/readme.txt': 'not a pipeline',
  'tree/.hidden/c.json': 'not JSON',
  'empty/readme.txt': '',
  'broken.json': '{"name": ',
  'text.json': '"a text"',
  'none.json': '[]',
  'other.json': '{"name": "package", "pipelines": [{"stages": [{"wait": 99}]}]}',
  'two.yaml': 'name: quick\nstages: []\n---\nname: slow\nstages: [{wait: 99}]\n',
  'mixed.yaml':
    '---\nname: quick\nstages: []\n---\nkind: Service\n---\nname: slow\nstages: [{wait: 99}]\n---\n',
  'nothing.yaml': '# later\n',
  'bomb.yaml': `name: bomb\na0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join('')}stages: []\n`,
  'aliases.yaml': ALIASES,
  'bombs.yaml': Array.from({ length: 40 }, () => ALIASES).join('---\n'),
  'yaml/a.yml': 'name: quick\nstages: []\n',
  'yaml/b.YAML': 'name: slow\nstages: [{wait: 99}]\n',
  'yaml/c.json': SHORT,
  'yaml/.github/d.yaml': '{',
  'yaml/node_modules/e.yaml': '{',
  'beside/policies/p.rego': 'package static.other\ndeny["other"] { input.x }\n',
  'beside/pipeline.yaml': 'name: slow\nstages: [{wait: 99}]\n',
  'kept/policies/p.rego':
    'package static.kept\ndeny["late"] { input.new.stages[_].wait > data.limits.wait }\n',
  'kept/policies/data.json': '{"limits": {"wait": 50}}',
  'kept/pipeline.json': LONG,
  'kept/tidegate.yml': 'dataDir: data\n',
  'left.yaml': '  name: quick\n  stages: []\nstages: [{wait: 99}]\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const env = { TIDEGATE_POLICIES_BUNDLES: 'b.tar.gz' }
const check = (args: readonly string[], stdin = '') => runTidegate(['check', ...args], { cwd, env, stdin })

beforeAll(async () => {
  await runTidegate(['build', 'policies', '-o', 'b.tar.gz'], { cwd })
})

describe('check', () => {
  test('exits with 0 when everything is allowed', async () => {
    expect(await check(['quick.json'])).toEqual({
      exitCode: 0,
      stdout:
        'allowed  quick.json "quick"\n\n1 pipeline in 1 file: 1 allowed, 0 denied; evaluated as {"new": ...}\n',
      stderr: '',
    })
  })

  test('exits with 1 and gives every reason with its package, numbers as written', async () => {
    const stdin = '[{"name": "slow", "owner": "", "stages": [{"wait": 9007199254740993}]}, {"stages": []}]'
    expect(await check(['-'], stdin)).toEqual({
      exitCode: 1,
      stdout: [
        'denied   - "slow"',
        '  static.owner: nobody owns it',
        '  static.wait: waits 9007199254740993 s',
        'allowed  -',
        '',
        '2 pipelines in 1 file: 1 allowed, 1 denied; evaluated as {"new": ...}',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  test('takes all *.json below a directory, in order', async () => {
    const { exitCode, stdout } = await check(['tree', '--format', 'json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          file: 'tree/a.json',
          name: 'quick',
          line: 1,
          column: 1,
          as: 'pipeline',
          allowed: true,
          denials: [],
          warnings: [],
        },
        {
          file: 'tree/deeper/b.json',
          name: 'slow',
          line: 1,
          column: 1,
          as: 'pipeline',
          allowed: false,
          denials: [{ package: 'static.wait', text: 'waits 9007199254740993 s', line: 1, column: 1 }],
          warnings: [],
        },
      ],
      summary: { files: 2, pipelines: 2, allowed: 1, denied: 1, errors: 0, warnings: 0 },
      warnings: [],
    })
  })

  test.each([
    ['a bare definition', LONG, 'slow'],
    ['one below new', `{"new": ${LONG}, "current": null}`, 'slow'],
    ['a request with input', `{"input": {"new": ${LONG}}}`, 'slow'],
    ['a request with input as text', JSON.stringify({ input: `{"new": ${LONG}}` }), 'slow'],
    ['an application', '{"app": {"name": "bare"}}', 'bare'],
  ])('denies %s', async (_name, stdin, name) => {
    const { exitCode, stdout } = await check(['-', '--format', 'json'], stdin)
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ name, allowed: false }] })
  })

  test.each([
    ['a definition', LONG, [], 'pipeline', 1],
    ['what is wrapped', `{"new": ${LONG}}`, [], 'raw', 1],
    ['a request', `{"input": {"new": ${LONG}}}`, [], 'request', 1],
    ['--as raw', LONG, ['--as', 'raw'], 'raw', 0],
    ['--as application', '{"name": "bare"}', ['--as', 'application'], 'application', 1],
  ])('says how %s was asked', async (_name, stdin, flags, as, exitCode) => {
    const run = await check(['-', ...flags, '--format', 'json'], stdin)
    expect(run.exitCode).toBe(exitCode)
    expect(JSON.parse(run.stdout)).toMatchObject({ files: [{ as }] })
  })

  test('says which packages with a verdict it does not ask, and what it looked for', async () => {
    const args = ['check', '--policies', 'policies', '--policies', 'team', 'quick.json']
    const { exitCode, stderr } = await runTidegate(args, { cwd })
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: 'not evaluated, since policies.staticPackages is static.**: team.owner\n',
    })
  })

  test('checks every document of a YAML file, and the rest if one is no pipeline', async () => {
    const { exitCode, stdout } = await check(['mixed.yaml'])
    expect({ exitCode, stdout }).toEqual({
      exitCode: 2,
      stdout: [
        'allowed  mixed.yaml "quick"',
        'error    mixed.yaml',
        '  not a pipeline definition: it has none of stages, template, config, triggers, application. Use --as if it is one.',
        'denied   mixed.yaml "slow"',
        '  static.wait: waits 99 s',
        '',
        '2 pipelines in 1 file: 1 allowed, 1 denied, 1 error; evaluated as {"new": ...}',
        '',
      ].join('\n'),
    })
    expect(await check(['two.yaml'])).toMatchObject({ exitCode: 1 })
    expect(await check(['aliases.yaml'])).toMatchObject({ exitCode: 0 })
  })

  test('accepts files and directories together, and checks a file once', async () => {
    const { exitCode, stdout } = await check(['yaml', 'yaml/c.json', 'quick.json'])
    expect(exitCode).toBe(1)
    expect(stdout).toBe(
      [
        'allowed  yaml/a.yml "quick"',
        'denied   yaml/b.YAML "slow"',
        '  static.wait: waits 99 s',
        'allowed  yaml/c.json "quick"',
        'allowed  quick.json "quick"',
        '',
        '4 pipelines in 4 files: 3 allowed, 1 denied; evaluated as {"new": ...}',
        '',
      ].join('\n'),
    )
  })

  test('skips the configuration and the data of its policies in a directory, and says so', async () => {
    const args = ['kept', '--policies', 'kept/policies']
    const { exitCode, stdout, stderr } = await check(args)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('denied   kept/pipeline.json "slow"\n  static.kept: late')
    expect(stdout).toContain('1 pipeline in 1 file:')
    expect(stderr).toContain('Skipped: kept/policies/data.json, kept/tidegate.yml (hidden, configuration')
  })

  test('does not mistake a directory with policies and YAML pipelines for policies', async () => {
    const { exitCode, stdout } = await check(['beside'])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('denied   beside/pipeline.yaml "slow"')
  })

  test('writes no colours into a file', async () => {
    expect((await check(['slow.json'])).stdout).not.toContain('\u001b')
  })
})

describe('a fault ends check with 2', () => {
  test('and every file that cannot be checked is told with all the others', async () => {
    const paths = ['broken.json', 'slow.json', 'absent.json', 'text.json', 'none.json', 'odd.json', 'empty']
    const { exitCode, stdout, stderr } = await check(paths)
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
    expect(stdout).toBe(
      [
        'error    broken.json',
        '  broken.json: unexpected EOF',
        'denied   slow.json "slow"',
        '  static.wait: waits 9007199254740993 s',
        'error    absent.json',
        '  file absent.json not found',
        'error    text.json',
        '  a pipeline definition must be a JSON object or an array of objects',
        'error    none.json',
        '  the array contains no pipeline definition',
        'error    odd.json "odd"',
        '  error(s) occurred while evaluating query',
        '  b.tar.gz/wait.rego:9:1: eval_conflict_error: complete rules must not produce multiple outputs',
        'error    empty',
        '  empty: this directory contains no *.json or *.yaml or *.yml',
        '',
        '1 pipeline in 7 files: 0 allowed, 1 denied, 6 errors; evaluated as {"new": ...}',
        '',
      ].join('\n'),
    )
  })

  test.each([
    ['other.json', 'not a pipeline definition: it has none of stages, template'],
    ['nothing.yaml', 'nothing.yaml is empty; an empty list is []'],
    ['bomb.yaml', 'bomb.yaml: yaml: document contains excessive aliasing'],
    ['bombs.yaml', 'bombs.yaml: yaml: document contains excessive aliasing'],
    ['left.yaml', 'left.yaml: yaml: line 2: did not find expected key'],
  ])('where %s holds what the policies would not see', async (file, problem) => {
    const { exitCode, stdout } = await check([file])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: expect.stringContaining(problem) as string })
  })

  test('but not where it is said how other JSON is asked', async () => {
    expect(await check(['--as', 'raw', 'other.json'])).toMatchObject({ exitCode: 0 })
  })

  test('in JSON with the error of each file', async () => {
    const { exitCode, stdout } = await check(['broken.json', '--format', 'json'])
    expect(exitCode).toBe(2)
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          file: 'broken.json',
          name: null,
          error: { code: 'invalid_parameter', message: 'broken.json: unexpected EOF' },
        },
      ],
      summary: { files: 1, pipelines: 0, allowed: 0, denied: 0, errors: 1, warnings: 0 },
      warnings: [],
    })
  })

  test('when no policy is a static one: nothing asked is not allowed', async () => {
    const run = await runTidegate(['check', '--policies', 'runtime', 'quick.json'], { cwd })
    expect(run).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'tidegate: no loaded package (runtime.p) is a static policy: policies.staticPackages is static.**. tidegate check runtime checks these policies themselves\n',
    })
  })
})
