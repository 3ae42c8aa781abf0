import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { ROOT, runTidegate } from '../support/run-tidegate.js'

const COMMANDS = [
  'init',
  'serve',
  'eval',
  'check',
  'impact',
  'test',
  'build',
  'policies',
  'decisions',
  'gates',
  'analysis',
  'audit',
  'exceptions',
  'fleet',
  'notifications',
  'sessions',
  'store',
  'pipelines',
  'orchestrator',
  'doctor',
  'backup',
  'restore',
  'reload',
  'config',
  'openapi',
  'completion',
  'opa',
  'hash-token',
  'version',
]

describe('help', () => {
  test('lists every command, exit codes and examples', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['--help'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
    expect(stdout).toContain('Exit codes: 0 success, 1 denial or failed test, 2 usage error or failure.')
    expect(stdout).toContain('Examples:\n  tidegate serve\n')
  })

  test.each(COMMANDS)('of %s has its usage and an example', async (name) => {
    const { exitCode, stdout } = await runTidegate([name, '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`Usage: tidegate ${name} [options]`)
    expect(stdout).toMatch(new RegExp(`Examples:\n  tidegate ${name}`))
  })

  test('is what a command line without a command gets, as an error', async () => {
    const { exitCode, stdout, stderr } = await runTidegate([])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: tidegate/)
    expect(stderr).not.toContain('tidegate: ')
  })
})

describe('a command line that cannot be understood', () => {
  test.each([
    [['evl'], "unknown command 'evl', did you mean eval?"],
    [['deploy-all'], `unknown command 'deploy-all'; commands are ${COMMANDS.join(', ')}`],
    [['eval', '--polices', 'x'], "unknown option '--polices', did you mean --policies?"],
    [['serve', '--adr', 'x'], "unknown option '--adr', did you mean --addr?"],
    ...['--port', '-p'].map((flag): [string[], string] => [
      ['serve', flag, '80'],
      `unknown option '${flag}': use --addr HOST:PORT, or server.addr in the configuration`,
    ]),
    [['version', '--port'], "unknown option '--port'"],
    [['gates', 'lst'], "unknown command 'lst', did you mean list?"],
    [['--evl', 'x'], "unknown option '--evl', did you mean --eval?"],
    [['--eval'], "option '--eval <file>' argument missing"],
    [['eval', '--input'], "option '-i, --input <file>' argument missing"],
    [['eval', 'pipeline.json', 'more.json'], "too many arguments for 'eval'. Expected 1 argument but got 2."],
    [['check'], "missing required argument 'path'"],
    [['test', '--threshold', 'most'], "--threshold must be a number from 0 to 100, not 'most'"],
    [
      ['eval', '--format', 'xml'],
      "option '-f, --format <format>' argument 'xml' is invalid. Allowed choices are text, json, raw, pretty, values, bindings, discard.",
    ],
  ])('%j says which part is wrong', async (args, message) => {
    expect(await runTidegate(args)).toEqual({ exitCode: 2, stdout: '', stderr: `tidegate: ${message}\n` })
  })

  test('gets a JSON object with --format json', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['eval', '--format', 'json', '--polices', 'x'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      code: 'wrong_use',
      message: "unknown option '--polices', did you mean --policies?",
    })
  })

  test('shows where in the program it happened only with --debug', async () => {
    const { stderr } = await runTidegate(['eval', '--input', 'absent.json', '--debug'])
    expect(stderr).toMatch(/^tidegate: file absent\.json not found\nAppError: .*\n {4}at /)
  })
})

describe('version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

  test('is printed alone by the flag', async () => {
    expect(await runTidegate(['--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('is printed with those of Node.js and opa by the command', async () => {
    const { exitCode, stdout } = await runTidegate(['version', '--format', 'json'], { env: { OPA_BIN: '' } })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      tidegate: version,
      node: process.versions.node,
      opa: expect.stringMatching(/^0\.70\.0 \(from npm package\)$/) as unknown,
      opaPath: expect.stringMatching(/bin\/opa$/) as unknown,
      opaReason: expect.stringContaining('the copy that npm installed; no --opa or policies.opa') as unknown,
    })
  })

  test('says why there is no opa', async () => {
    const { exitCode, stdout } = await runTidegate(['version', '--opa', 'absent'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^opa +none: the opa program named by --opa is not there .*: absent$/m)
  })
})

describe('hash-token', () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

  test('prints the hash of the token on standard input, without its line end', async () => {
    const run = await runTidegate(['hash-token'], { stdin: 'correct-horse\n' })
    expect(run).toEqual({ exitCode: 0, stdout: `sha256: ${sha256('correct-horse')}\n`, stderr: '' })
  })

  test('makes a token that fits its hash', async () => {
    const { exitCode, stdout } = await runTidegate(['hash-token', '--generate', '--format', 'json'])
    const answer = JSON.parse(stdout) as { token: string; sha256: string }
    expect(exitCode).toBe(0)
    expect(answer.token).toMatch(/^[\w-]{43}$/)
    expect(answer.sha256).toBe(sha256(answer.token))
  })

  test.each([
    ['', 'no token on standard input'],
    ['two words', 'this is not a bearer token'],
    ['schlüssel', 'this is not a bearer token'],
  ])('refuses %j', async (stdin, problem) => {
    const hint = 'Use letters, digits and -._~+/ only, or --generate.'
    expect(await runTidegate(['hash-token'], { stdin })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `tidegate: ${problem}. ${hint}\n`,
    })
  })
})
