import { execFile } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { PROGRAM, PROJECT_ROOT } from '../support/project-root.js'
import { makeWorkspace } from '../support/workspace.js'

interface Step {
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly steps: readonly Step[] }
}
const action = parse(readFileSync(join(PROJECT_ROOT, 'action.yml'), 'utf8')) as Action
const hooks = parse(readFileSync(join(PROJECT_ROOT, '.pre-commit-hooks.yaml'), 'utf8')) as readonly {
  readonly entry: string
  readonly files: string
}[]

const workspace = makeWorkspace({
  'rules/wait.rego':
    'package static.wait\ndeny[text] { s := input.new.stages[_]; s.wait > 60; text := sprintf("stage \'%v\' waits", [s.name]) }\n',
  'pipelines/good.yaml': 'name: good\nstages: []\n',
  'my pipelines/bad.json': '{"name": "bad", "stages": [{"name": "Soak", "wait": 99}]}',
  'bin/tidegate': `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`,
})
const { path: cwd } = workspace
chmodSync(join(cwd, 'bin/tidegate'), 0o755)
afterAll(workspace.remove)
beforeEach(() => workspace.write({ output: '', summary: '' }))

const COMPILER = process.env['OPA_BIN']
const PATH = [join(cwd, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const own = { HOME: cwd, PATH, ...(COMPILER === undefined ? {} : { OPA_BIN: COMPILER }) }
  return new Promise<{ exitCode: number | string | null | undefined; stdout: string }>((resolve) => {
    execFile(program, args, { cwd, env: { ...own, ...env } }, (error, stdout) =>
      resolve({ exitCode: error === null ? 0 : error.code, stdout }),
    )
  })
}

/** Runs the steps of the action as a runner does, up to the first that fails. */
async function runAction(given: Readonly<Record<string, string>>) {
  const surroundings = {
    GITHUB_ACTION_PATH: PROJECT_ROOT,
    GITHUB_OUTPUT: join(cwd, 'output'),
    GITHUB_STEP_SUMMARY: join(cwd, 'summary'),
    RUNNER_TEMP: cwd,
  }
  let last: Awaited<ReturnType<typeof run>> = { exitCode: undefined, stdout: '' }
  for (const { run: script, env = {} } of action.runs.steps) {
    if (script === undefined) continue
    const values = Object.entries(env).map(([name, value]) => [
      name,
      value.replace(
        /\$\{\{ inputs\.(\w+) \}\}/,
        (_, input: string) => given[input] ?? action.inputs[input]?.default ?? '',
      ),
    ])
    const variables = { ...surroundings, ...(Object.fromEntries(values) as Record<string, string>) }
    last = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], variables)
    if (last.exitCode !== 0) break
  }
  return last
}

describe('the GitHub action', () => {
  test('annotates the denied stage and fails', async () => {
    const pipelines = 'pipelines\nmy pipelines\n'
    expect(await runAction({ policies: 'rules', pipelines })).toEqual({
      exitCode: 1,
      stdout: [
        "::error file=my pipelines/bad.json,line=1,col=28,title=static.wait%3A bad::stage 'Soak' waits",
        '2 pipelines in 2 files: 1 allowed, 1 denied; evaluated as {"new": ...}',
        '',
      ].join('\n'),
    })
  })

  test('succeeds when all are allowed, with its default pipelines', async () => {
    expect(await runAction({ policies: 'rules' })).toMatchObject({ exitCode: 0 })
  })

  test('applies the levels of a configuration and exceptions', async () => {
    workspace.write({
      'levels.yaml': 'policies: {levels: [{package: static.wait, level: warn}]}\n',
      'exceptions.yaml': '- {package: static.wait, reason: release, until: 2999-01-01}\n',
    })
    const given = { policies: 'rules', pipelines: 'my pipelines' }
    const warned = await runAction({ ...given, config: 'levels.yaml' })
    expect(warned.exitCode).toBe(0)
    expect(warned.stdout).toMatch(/^::warning file=my pipelines\/bad\.json/)
    const excused = await runAction({ ...given, exceptions: 'exceptions.yaml' })
    expect(excused.exitCode).toBe(0)
    expect(excused.stdout).toContain('excused by exception 1')
  })

  test('fails with 2 when a directory is missing', async () => {
    expect(await runAction({ policies: 'rules', pipelines: 'absent' })).toMatchObject({ exitCode: 2 })
  })

  test('names the file of the report, and adds Markdown to the summary of the job', async () => {
    const { stdout } = await runAction({ policies: 'rules', pipelines: 'my pipelines', format: 'markdown' })
    expect(stdout).toMatch(/^::stop-commands::([\w-]+)\n\| [^]*\n::\1::\n$/)
    const report = /^report=(.*)$/m.exec(readFileSync(join(cwd, 'output'), 'utf8'))?.[1] ?? ''
    expect(readFileSync(report, 'utf8')).toContain("stage 'Soak' waits")
    expect(readFileSync(join(cwd, 'summary'), 'utf8')).toBe(readFileSync(report, 'utf8'))
  })

  test('has no input in the text of a script', () => {
    expect(action.runs.steps.filter(({ run: script }) => script?.includes('${{'))).toEqual([])
    expect(Object.keys(action.inputs)).toEqual([
      ...['policies', 'pipelines', 'format'],
      ...['config', 'exceptions'],
    ])
  })
})

describe('the pre-commit hook', () => {
  const [hook] = hooks
  const [program = '', ...args] = hook?.entry.split(' ') ?? []

  test.each([
    ['pipelines/good.yaml', 0],
    ['my pipelines/bad.json', 1],
    ['absent.json', 2],
  ])('ends for %s with %d', async (file, exitCode) => {
    const env = { TIDEGATE_POLICIES_DIRECTORIES: 'rules' }
    expect(await run(program, [...args, file], env)).toMatchObject({ exitCode })
  })

  test('selects JSON and YAML below directories of pipelines', () => {
    const files = ['pipelines/a.json', 'shop/pipelines/b/c.yml', 'package.json', 'pipelines/readme.md']
    expect(files.filter((file) => new RegExp(hook?.files ?? '').test(file))).toEqual(files.slice(0, 2))
  })
})
