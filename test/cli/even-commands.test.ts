import type { Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'

import { commands } from '../../src/cli/commands.js'
import { fullProgram } from '../../src/cli/completion.js'
import { runCommandLine } from '../../src/cli/run-command-line.js'
import { loadConfig } from '../../src/config/load-config.js'
import { mentionedCommands } from '../support/documentation/read-commands.js'
import { newSession } from '../../src/cli/session/session.js'
import type { Terminal } from '../../src/cli/session/terminal.js'

/** Commands without --watch, and why. */
const NOT_WATCHED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['init', 'serve', 'build', 'backup', 'restore', 'opa install', 'hash-token', 'audit keygen'],
      ...['store migrate', 'store copy', 'pipelines push', 'orchestrator refresh', 'notifications test'],
      ...['analysis start', 'analysis cancel', 'analysis feedback', 'policies refresh', 'impact', 'reload'],
      ...['diff', 'pin', 'rollback', 'unpin', 'promote', 'abandon'].map((name) => `policies ${name}`),
      ...['add', 'approve', 'remove'].map((name) => `exceptions ${name}`),
      ...['trigger', 'approve', 'reject', 'cancel', 'resend', 'create', 'delegate', 'revoke'].map(
        (name) => `gates ${name}`,
      ),
    ].map((name) => [name, 'does something']),
  ),
  'audit export': 'writes a file',
  'sessions revoke': 'does something',
  'analysis report': 'writes a file',
  'pipelines pull': 'writes a file',
  ...Object.fromEntries(
    ['try', 'backtest', 'plan'].map((name) => [
      `analysis ${name}`,
      'queries every source each time, at its expense',
    ]),
  ),
  'analysis replay': 'what is judged again does not change',
  'decisions why': 'a decision that was made does not change',
  'notifications list': 'changes with the configuration',
  openapi: 'changes with the release',
  completion: 'changes with the release',
  version: 'changes with the release',
}
/** Flags of the same name with different meanings. */
const NOT_THE_SAME: Readonly<Record<string, string>> = {
  '--as': 'the form of a document, or a person',
  '--bundle': 'a file or a directory, as in opa',
  '--from': 'a data directory, or a mirror',
  '--interval': 'a length, or the number of one',
  '--policies': 'directories, or a bundle, too',
  '--to': 'a database, or a person',
  '--until': 'the end of a window of time, or of an exception',
  '--url': 'the service, or what is to be called',
  '--baseline': 'values of its scope',
}

/** Commands whose `--limit` is no page of a list by time, and why. */
const NO_PAGES: Readonly<Record<string, string>> = {
  impact: 'the number of inputs to evaluate',
  'exceptions list': 'exceptions have an end, but no time at which they happened',
}

const session = newSession(terminal().terminal)
const program = await fullProgram(async () => {
  const loaded = [...commands].map(async ([name, { load }]) => [name, await load()] as const)
  return new Map(await Promise.all(loaded))
}, session)
const leaves = leavesOf(program, '')
const options = leaves.flatMap(({ name, command }) => command.options.map((option) => ({ name, option })))

function leavesOf(command: Command, path: string): { readonly name: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ name: path, command }]
  return command.commands.flatMap((sub) => leavesOf(sub, `${path} ${sub.name()}`.trim()))
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, hidden }) => long === flag && !hidden)
}

/** A terminal that records its output. */
function terminal(): { readonly terminal: Terminal; readonly written: string[] } {
  const written: string[] = []
  const write = (text: string): void => void written.push(text)
  const none = { env: {}, ownsProcess: false, isInteractive: false, showsProgress: false, hasColours: false }
  const read = () => Promise.resolve(Buffer.alloc(0))
  return {
    written,
    terminal: { ...none, out: write, err: write, outBytes: () => Promise.resolve(true), readStdin: read },
  }
}

/** Minimum length of a mistyped word that remains recognisable with one letter changed. */
const LEAST_LETTERS = 4

describe('every command', () => {
  it('is found', () => {
    expect(leaves.length).toBeGreaterThan(45)
    const names = leaves.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(NOT_WATCHED)))
  })

  it.each(leaves)('$name says what it does, with a format for people and one for programs', ({ command }) => {
    expect(command.description()).toMatch(/^[A-Z].*\.$/s)
    const format = optionOf(command, '--format')
    const read = (text: string): unknown => format?.parseArg?.(text, undefined)
    // `eval` prints a value: JSON by default, and more formats, as in opa.
    if (command.name() !== 'eval') expect(format).toMatchObject({ defaultValue: 'text' })
    for (const name of ['text', 'json']) expect(read(name)).toBe(name)
    expect(() => read('xml')).toThrow()
    expect(optionOf(command, '--debug')).toBeDefined()
  })

  it.each(leaves)('$name is watched, or does not show what changes', ({ name, command }) => {
    expect(optionOf(command, '--watch') === undefined).toBe(name in NOT_WATCHED && name !== 'serve')
  })

  const paged = leaves.filter(({ command }) => optionOf(command, '--limit') ?? optionOf(command, '--cursor'))
  it.each(paged.filter(({ name }) => !(name in NO_PAGES)))(
    '$name shows its pages as the others do',
    ({ command }) => {
      expect(optionOf(command, '--limit')).toMatchObject({ flags: '--limit <n>', defaultValue: '50' })
      expect(optionOf(command, '--cursor')).toMatchObject({ flags: '--cursor <cursor>' })
      expect(optionOf(command, '--since')).toBeDefined()
    },
  )

  const timed = leaves.filter(({ command }) => optionOf(command, '--until')?.flags.endsWith('<end>') !== true)
  it.each(timed)('$name has both ends of a window of time, or none', ({ command }) => {
    const [since, until] = [optionOf(command, '--since'), optionOf(command, '--until')]
    expect(since?.flags.replace('since', 'until')).toBe(until?.flags)
    for (const word of [
      '--from',
      '--after',
      '--before',
      '--start',
      '--end',
      '--app',
      '--page',
      '--output-format',
    ])
      if (command.name() !== 'copy' && command.name() !== 'install')
        expect(optionOf(command, word)).toBeUndefined()
  })

  it.each(leaves.filter(({ command }) => optionOf(command, '--since')))(
    '$name refuses a window that ends before it begins',
    async ({ name }) => {
      const { terminal: shown, written } = terminal()
      const args = [...name.split(' '), '--since', '1h', '--until', '2h', '--url', 'http://127.0.0.1:1']
      expect(await runCommandLine(args, shown)).toBe(2)
      expect(written.join('')).toMatch(/--until \(.*Z\) must be after --since/)
    },
  )

  it.each(leaves.filter(({ command }) => optionOf(command, '--token-file')))(
    '$name asks a service by the same flags as the others',
    ({ command }) => {
      for (const flag of ['--url', '--token-file', '--ca-file', '--client-certificate', '--client-key'])
        expect(optionOf(command, flag)).toBeDefined()
    },
  )
})

describe('every flag', () => {
  const byName = new Map<string, Option[]>()
  for (const { option } of options.filter((each) => !each.option.hidden)) {
    const flag = option.long ?? option.flags
    byName.set(flag, [...(byName.get(flag) ?? []), option])
  }

  it.each([...byName].filter(([flag]) => !(flag in NOT_THE_SAME)))(
    '%s takes the same everywhere',
    (_, uses) => {
      expect(new Set(uses.map(({ flags }) => flags.replace(/^-\w, /, ''))).size).toBe(1)
    },
  )

  it.each(options.filter(({ option }) => option.flags.endsWith('<time>')))(
    '$option.long of $name takes a time, or how long ago, and no other word',
    ({ option: { parseArg } }) => {
      const read = (text: string): unknown => parseArg?.(text, undefined)
      expect(read('2026-01-31T12:00:00+01:00')).toBe('2026-01-31T11:00:00.000Z')
      expect(Math.abs(Date.parse(String(read('2h'))) - (Date.now() - 7_200_000))).toBeLessThan(60_000)
      expect(() => read('soon')).toThrow(/must be a time such as 2026-01-31T12:00:00Z/)
    },
  )

  const choices = options.flatMap(({ name, option }) =>
    (option.argChoices ?? [])
      .filter((choice) => choice.length >= LEAST_LETTERS)
      .slice(0, 1)
      .map((choice) => ({ name, flag: option.long ?? '', choice })),
  )
  it.each(choices)(
    '$flag of $name names the value that is near a mistyped $choice',
    async ({ name, flag, choice }) => {
      const { terminal: shown, written } = terminal()
      const mistyped = `${choice.slice(0, -1)}~`
      expect(await runCommandLine([...name.split(' '), flag, mistyped], shown)).toBe(2)
      expect(written.join('')).toMatch(new RegExp(`argument '.*' is invalid. .*; did you mean ${choice}\\?`))
    },
  )
})

async function helpOf(name: string): Promise<string> {
  const shown = terminal()
  await runCommandLine([...name.split(' '), '--help'], shown.terminal)
  return shown.written.join('')
}

describe('the pages of the documentation', () => {
  it.each(mentionedCommands())('mention a command that is there: tidegate %s', (text) => {
    const [words = ''] = text.split(/ -- | \| | > /)
    let command = program
    const flags: string[] = []
    for (const word of words.split(' ')) {
      const sub = command.commands.find((each) => each.name() === word)
      if (sub !== undefined && flags.length === 0) command = sub
      else if (word.startsWith('--')) flags.push(word.replace(/[=,].*/, ''))
    }
    const known = [...command.options, ...program.options].map(({ long }) => long)
    expect(command).not.toBe(program)
    expect(known).toEqual(expect.arrayContaining(flags))
  })
})

describe('the help of every command', () => {
  it.each(leaves)('says what $name takes', async ({ name, command }) => {
    for (const argument of command.registeredArguments)
      expect(argument.description, `${name} <${argument.name()}>`).not.toBe('')
    const help = await helpOf(name)
    expect(help).not.toMatch(/default:\s+(?:""|\{\}|")/)
    for (const { mandatory, long } of command.options)
      if (mandatory) expect(help.replace(/\s+/g, ' ')).toMatch(new RegExp(`${long} [^-]*\\(required\\)`))
  })

  it('gives the defaults that a service starts with', async () => {
    const help = await helpOf('serve')
    const { server, dataDir, log } = loadConfig({ env: {} })
    for (const value of [server.addr, dataDir, log.level, log.format])
      expect(help.replace(/\s+/g, ' ')).toContain(`(default: ${value})`)
  })
})
