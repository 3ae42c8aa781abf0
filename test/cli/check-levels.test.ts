import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { startStorageService } from '../support/storage-service.js'
import { makeWorkspace } from '../support/workspace.js'

const reasonsOver = (name: string, limit: number, rule = 'deny') =>
  [
    `package static.${name}`,
    'import rego.v1',
    `${rule} contains sprintf("stage '%v' waits %v s", [s.name, s.wait]) if {`,
    '  some s in input.new.stages',
    `  s.wait > ${limit}`,
    '}',
    'conflict := 1 if input.new.name == "broken"',
    'conflict := 2 if input.new.name == "broken"',
    `${rule} contains "x" if conflict == 3`,
  ].join('\n')

const EXCEPTION = {
  package: 'static.strict',
  application: 'shop',
  reason: 'moves to gates',
  until: '2999-01-01',
}
const AS_YAML = `# moves\n- ${Object.entries(EXCEPTION)
  .map(([name, value]) => `${name}: ${value}`)
  .join('\n  ')}\n`
const PIPELINE = ['application: shop', 'name: slow', 'stages:', '  - name: Soak', '    wait: 99', ''].join(
  '\n',
)
const workspace = makeWorkspace({
  'policies/strict.rego': reasonsOver('strict', 90),
  'policies/new.rego': reasonsOver('new', 60),
  'policies/old.rego': reasonsOver('old', 0),
  'policies/hint.rego': reasonsOver('hint', 30, 'warn'),
  'slow.yaml': PIPELINE,
  'warned.yaml': PIPELINE.replace('99', '70'),
  'pay.yaml': PIPELINE.replace('shop', 'pay').replace('99', '70'),
  'broken.yaml': PIPELINE.replace('slow', 'broken').replace('99', '1'),
  'tidegate.yaml': [
    'policies:',
    '  levels:',
    '    - {package: static.new, level: enforce, applications: [pay]}',
    '    - {package: static.new, level: warn}',
    '    - {package: static.old, level: off}',
  ].join('\n'),
  'allowing.yaml': [
    'policies:',
    '  levels:',
    '    - {package: static.**, level: warn}',
    '    - {package: static.strcit, level: off}',
    '    - {package: static.old, level: warn, until: 2020-01-01}',
  ].join('\n'),
  'empty.yaml': '# none yet\n',
  'exceptions.yaml': JSON.stringify([EXCEPTION]),
})
const { path: cwd } = workspace
afterAll(workspace.remove)
const env = { TIDEGATE_CONFIG: 'tidegate.yaml', TIDEGATE_POLICIES_BUNDLES: 'b.tar.gz' }
const check = (args: readonly string[], stdin = '') => runTidegate(['check', ...args], { cwd, env, stdin })
beforeAll(async () => {
  await runTidegate(['build', 'policies', '-o', 'b.tar.gz'], { cwd })
})

describe('tidegate check', () => {
  test('denies and warns like the service, by levels for applications and by warn rules', async () => {
    expect(await check(['slow.yaml'])).toMatchObject({
      exitCode: 1,
      stdout: [
        'denied   slow.yaml "slow"',
        "  static.strict: stage 'Soak' waits 99 s (slow.yaml:4:5)",
        "  warning static.new: stage 'Soak' waits 99 s (slow.yaml:4:5)",
        "  warning static.hint: stage 'Soak' waits 99 s (slow.yaml:4:5)",
        '',
        '1 pipeline in 1 file: 0 allowed, 1 denied, 2 warnings; evaluated as {"new": ...}',
        '',
      ].join('\n'),
    })
    const pay = await check(['pay.yaml'])
    expect(pay.exitCode).toBe(1)
    expect(pay.stdout).toContain("\n  static.new: stage 'Soak' waits 70 s")
  })

  test('exits with 0 if there are only warnings, and reports them in every format', async () => {
    const reason = "stage 'Soak' waits 70 s"
    const shown = {
      text: `  warning static.new: ${reason} (warned.yaml:4:5)`,
      junit: `<system-out>warned.yaml:4:5: warning: static.new: ${reason}`,
      github: `::warning file=warned.yaml,line=4,col=5,title=static.new%3A slow::${reason}`,
      markdown: `| warned.yaml:4:5 | slow | static.new | warning | ${reason} |`,
      sarif: '"level": "warning"',
      json: '"kind": "level"',
    }
    for (const [format, text] of Object.entries(shown)) {
      const { exitCode, stdout } = await check(['warned.yaml', '--format', format])
      expect({ format, exitCode, stdout }).toEqual({
        ...{ format, exitCode: 0 },
        stdout: expect.stringContaining(text) as string,
      })
    }
  })

  test('makes an error of a package that warns a warning, and of one that denies an error', async () => {
    const { exitCode, stdout } = await check(['broken.yaml', '--format', 'json'])
    expect(exitCode).toBe(2)
    expect(stdout).toContain('eval_conflict_error')
    const warned = await check(['broken.yaml', '--config', 'allowing.yaml'])
    expect(warned.exitCode).toBe(0)
    expect(warned.stdout).toContain('  warning static.strict: could not be evaluated: ')
  })

  test('warns of levels that do nothing, which --fail-on-warning makes a failure', async () => {
    const run = await check(['warned.yaml', '--config', 'allowing.yaml', '--fail-on-warning'])
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain('no loaded package matches static.strcit, so its level off does nothing')
    expect(run.stderr).toContain('static.old: warn ended at 2020-01-01T00:00:00.000Z')
  })
})

describe('check --exceptions', () => {
  const list = (...exceptions: object[]) => JSON.stringify({ exceptions })
  const listed = { ...EXCEPTION, id: 7, owner: 'ann', createdAt: '2026-01-01T00:00:00Z', state: 'active' }

  test.each([
    ['a file of a person', 'exceptions.yaml', '', 'exception 1 of the file'],
    ['the list of the service on standard input', '-', list(listed), 'exception 7 of ann'],
    ['YAML on standard input', '-', AS_YAML, 'exception 1 of the file'],
  ])('excuses denials by %s', async (_, file, stdin, by) => {
    const { exitCode, stdout } = await check(['slow.yaml', '--exceptions', file], stdin)
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`waits 99 s (excused by ${by} until 2999-01-01T00:00:00.000Z)`)
  })

  test.each([
    ['of another application', { ...listed, application: 'pay' }],
    ['that is pending', { ...listed, state: 'pending' }],
    ['that has ended', { ...listed, state: 'ended', until: '2020-01-01' }],
    ['whose end has passed since it was listed', { ...listed, until: '2020-01-01' }],
  ])('excuses nothing by an exception %s', async (_, exception) => {
    expect((await check(['slow.yaml', '--exceptions', '-'], list(exception))).exitCode).toBe(1)
  })

  test('names an exception that does nothing', async () => {
    const [unknown, ended] = [
      { ...EXCEPTION, package: 'static.strcit' },
      { ...EXCEPTION, until: '2020-01-01' },
    ]
    const { stderr } = await check(['slow.yaml', '--exceptions', '-'], list(unknown, ended))
    expect(stderr).toContain(
      'no loaded package static.strcit has a verdict, so its exception does nothing, did you mean static.strict?',
    )
    expect(stderr).toContain('the exception for static.strict ended at 2020-01-01T00:00:00.000Z')
  })

  test('refuses a file with every problem: no end, a misspelt member, a pipeline of no application', async () => {
    const written = list(
      { ...EXCEPTION, until: undefined },
      { ...EXCEPTION, applicaton: 'x' },
      { ...EXCEPTION, application: undefined, pipeline: 'p' },
    )
    const { exitCode, stderr } = await check(['slow.yaml', '--exceptions', '-'], written)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('exceptions[0].until is required')
    expect(stderr).toContain('applicaton')
    expect(stderr).toContain('exceptions[2].pipeline needs application')
  })

  test.each(['-', 'empty.yaml'])('refuses an empty list of exceptions (%s)', async (file) => {
    const { exitCode, stderr } = await check(['slow.yaml', '--exceptions', file], ' \n')
    const name = file === '-' ? 'standard input' : file
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `tidegate: ${name} is empty; an empty list is []\n`,
    })
    expect((await check(['pay.yaml', '--exceptions', '-'], '[]')).exitCode).toBe(1)
  })

  test('refuses a page of a longer list', async () => {
    const page = JSON.stringify({ exceptions: [], nextCursor: '100' })
    const { exitCode, stderr } = await check(['slow.yaml', '--exceptions', '-'], page)
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'tidegate: -: more exceptions follow. List all of them with --limit 1000.\n',
    })
  })
})

test('pipelines check and push judge by levels and exceptions, and store what only warns', async () => {
  const storage = await startStorageService({ takesList: false, hasBatch: true })
  const pipeline = { name: 'slow', application: 'shop', id: 'id-slow', stages: [{ name: 'Soak', wait: 99 }] }
  workspace.write({ 'push.json': JSON.stringify([pipeline]) })
  const run = (...args: string[]) =>
    runTidegate(['pipelines', ...args, '--storage-url', storage.origin], { cwd, env })
  try {
    const denied = await run('push', 'push.json')
    expect(denied.exitCode).toBe(1)
    expect(denied.stdout).toContain("    warning static.new: stage 'Soak' waits 99 s\n")
    expect(storage.pipelines.size).toBe(0)
    expect((await run('push', 'push.json', '--exceptions', 'exceptions.yaml')).exitCode).toBe(0)
    expect([...storage.pipelines.keys()]).toEqual(['slow'])
    const { exitCode, stdout } = await run('check', '--exceptions', 'exceptions.yaml')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('shop  1 of 1\n  allowed slow\n    warning static.strict: ')
    expect(stdout).toContain('1 pipeline of 1 application: none denied, 3 warnings\n')
  } finally {
    await storage.close()
  }
})

test('eval returns the document whatever its level, and says that it does not deny', async () => {
  const args = ['eval', '--entrypoint', 'static/new/deny', '--input', 'warned.yaml']
  const { stdout, stderr } = await runTidegate(args, { cwd, env })
  expect(stdout).toBe(`{"result":["stage 'Soak' waits 70 s"]}\n`)
  expect(stderr).toContain('static.new is at the level warn for this input')
})
