import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const FILES = [
  'policies/static/description.rego',
  'policies/static/description_test.rego',
  'pipeline.json',
  'tidegate.yaml',
  '.github/workflows/policies.yml',
  '.vscode/settings.json',
  '.regal/config.yaml',
]
const empty = makeWorkspace()
const used = makeWorkspace({ 'tidegate.yaml': 'mine', 'pipeline.json': '{}', '.gitignore': 'node_modules' })
const nested = makeWorkspace({ 'blocked/.github': 'a file' })
afterAll(() => {
  for (const { remove } of [empty, used, nested]) remove()
})

describe('init in an empty directory', () => {
  const { path: cwd } = empty

  test('lists the files that it wrote and the commands to run next', async () => {
    expect(await runTidegate(['init'], { cwd })).toEqual({
      exitCode: 0,
      stdout: [
        ...[...FILES, '.gitignore'].map((file) => `wrote  ${file}`),
        '',
        'Next:',
        '  tidegate test policies',
        '  tidegate check --config tidegate.yaml pipeline.json',
        '  tidegate serve --config tidegate.yaml --watch',
        '',
      ].join('\n'),
      stderr: '',
    })
    for (const file of FILES) expect(existsSync(join(cwd, file))).toBe(true)
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('/data/\n')
  })

  test('gives policies whose tests pass and cover every line', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['test', 'policies', '--threshold', '100'], {
      cwd,
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('4 tests: 4 passed, 0 failed')
  })

  test('gives a directory in which check finds the pipeline alone', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['check', '.'], { cwd })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('1 pipeline in 1 file: 1 allowed')
    expect(stderr).toBe(
      'Skipped: .github, .regal, .vscode, tidegate.yaml (hidden, configuration or data of policies).\n',
    )
  })

  test('gives policies and a pipeline that pass the checks of the CI workflow', async () => {
    expect(await runTidegate(['check', '--config', 'tidegate.yaml', 'pipeline.json'], { cwd })).toMatchObject(
      { exitCode: 0, stderr: '' },
    )
    expect(await runTidegate(['check', '--strict', 'policies'], { cwd })).toMatchObject({ exitCode: 0 })
    const denied = await runTidegate(['check', '-'], { cwd, stdin: '{"name": "shop", "stages": []}' })
    expect(denied.exitCode).toBe(1)
    expect(denied.stdout).toContain(
      "static.description: pipeline 'shop' has no description; say what it is for",
    )
  })

  test('gives a configuration that is valid', async () => {
    const args = ['config', '--config', 'tidegate.yaml']
    expect(await runTidegate(args, { cwd })).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('gives a CI workflow that installs tidegate and runs the tests and checks', () => {
    const workflow = readFileSync(join(cwd, '.github/workflows/policies.yml'), 'utf8')
    expect(workflow).toMatch(/run: npm install --global tidegate@\d+\.\d+\.\d+\n/)
    expect(workflow).toContain('run: tidegate test policies\n')
    expect(workflow).toContain('run: tidegate check --config tidegate.yaml pipeline.json\n')
  })

  test.skipIf(newerOpa() === undefined)('gives policies that OPA 1.x accepts strictly', () => {
    const opa = (...args: readonly string[]) =>
      execFileSync(newerOpa() ?? '', args, { cwd, encoding: 'utf8' })
    expect(opa('check', '--strict', 'policies')).toBe('')
    expect(opa('test', 'policies')).toContain('PASS: 4/4')
    expect(opa('fmt', '--list', 'policies')).toBe('')
  })

  test('refuses a second time, naming every file', async () => {
    expect(await runTidegate(['init'], { cwd })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `tidegate: Nothing was written, because these files exist: ${FILES.join(', ')}. Pass --force to overwrite them, or name another directory.\n`,
    })
  })
})

describe('init next to files of others', () => {
  const { path: cwd } = used
  const read = (file: string) => readFileSync(join(cwd, file), 'utf8')

  test('writes none if one exists', async () => {
    const { exitCode, stderr } = await runTidegate(['init'], { cwd })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('these files exist: pipeline.json, tidegate.yaml.')
    expect(existsSync(join(cwd, 'policies'))).toBe(false)
    expect([read('tidegate.yaml'), read('.gitignore')]).toEqual(['mine', 'node_modules'])
  })

  test('overwrites them with --force and keeps the lines of .gitignore', async () => {
    expect(await runTidegate(['init', '--force'], { cwd })).toMatchObject({ exitCode: 0 })
    expect(read('tidegate.yaml')).toContain('directories: [policies]')
    expect(read('.gitignore')).toBe('node_modules\n/data/\n')
    writeFileSync(join(cwd, 'pipeline.json'), '{}')
    expect(await runTidegate(['init', '--force'], { cwd })).toMatchObject({ exitCode: 0 })
    expect(read('.gitignore')).toBe('node_modules\n/data/\n')
  })
})

describe('init with a directory', () => {
  const { path: cwd } = nested

  test('creates it and reports JSON', async () => {
    const { exitCode, stdout } = await runTidegate(['init', 'my team', '--format', 'json'], { cwd })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      files: [...FILES, '.gitignore'].map((file) => `my team/${file}`),
      next: ["cd 'my team'", 'tidegate test policies', expect.any(String), expect.any(String)],
    })
  })

  test('names the path that it cannot write', async () => {
    const { exitCode, stderr } = await runTidegate(['init', 'blocked'], { cwd })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^tidegate: write blocked\/\.github\/workflows\/policies\.yml: E/)
  })
})
