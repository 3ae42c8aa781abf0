import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { EXIT } from '../../../src/cli/session/session.js'
import type { ExitCode } from '../../../src/cli/session/session.js'
import type { Terminal } from '../../../src/cli/session/terminal.js'
import { runWatched } from '../../../src/cli/session/watch.js'

vi.mock('node:timers/promises', () => ({ setTimeout: () => Promise.resolve() }))

let out = ''
let err = ''

beforeEach(() => {
  out = ''
  err = ''
})
afterEach(() => vi.restoreAllMocks())

function terminal(columns?: number): Terminal {
  return {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    outBytes: () => Promise.resolve(true),
    readStdin: () => Promise.resolve(Buffer.alloc(0)),
    env: {},
    ownsProcess: false,
    isInteractive: false,
    showsProgress: true,
    hasColours: false,
    columns,
  }
}

/** Runs a command with these outputs in turn, until the reader ends it. */
async function showing(texts: readonly (readonly [string, ExitCode])[], columns?: number): Promise<void> {
  let runs = 0
  const watched = runWatched((to) => {
    const next = texts[runs]
    runs += 1
    if (next === undefined) return Promise.reject(new Error('ended'))
    const [text, exitCode] = next
    if (exitCode === EXIT.error) to.err(text)
    else to.out(text)
    return Promise.resolve({ exitCode, isWatched: true })
  }, terminal(columns))
  await expect(watched).rejects.toThrow('ended')
}

describe('a command that is watched', () => {
  test('writes what it shows again only where that has changed', async () => {
    await showing([
      ['a\n', 0],
      ['a\n', 0],
      ['b\n', 1],
      ['b\n', 1],
      ['a\n', 0],
    ])
    expect(out).toBe('a\nb\na\n')
  })

  test('writes it over what was there on a terminal', async () => {
    await showing(
      [
        ['a\n', 0],
        ['b\n', 0],
      ],
      80,
    )
    expect(out.split('\u001B[H\u001B[2J')).toEqual(['', 'a\n', 'b\n'])
  })

  test('continues where a service is away for a while', async () => {
    await showing([
      ['a\n', 0],
      ['away\n', 2],
      ['a\n', 0],
    ])
    expect([out, err]).toEqual(['a\na\n', 'away\n'])
  })
})

describe('a command that reads files', () => {
  const reads = (changes: readonly boolean[]) => {
    const left = [...changes]
    return { haveChanged: () => Promise.resolve(left.shift() ?? true), pauseMs: () => 0, left }
  }

  test('is run again only once one of them has changed', async () => {
    const files = reads([false, false, true])
    let runs = 0
    const watched = runWatched((to) => {
      runs += 1
      if (runs === 3) return Promise.reject(new Error('ended'))
      to.out(`${files.left.length}\n`)
      return Promise.resolve({ exitCode: EXIT.fine, isWatched: true, files })
    }, terminal())
    await expect(watched).rejects.toThrow('ended')
    expect(out).toBe('3\n0\n')
  })

  test('is run again though the first run fails, since files can be mended', async () => {
    const exitCodes: ExitCode[] = [EXIT.error, EXIT.fine]
    const watched = runWatched((to) => {
      const exitCode = exitCodes.shift()
      if (exitCode === undefined) return Promise.reject(new Error('ended'))
      to.out(`${exitCode}\n`)
      return Promise.resolve({ exitCode, isWatched: true, files: reads([]) })
    }, terminal())
    await expect(watched).rejects.toThrow('ended')
    expect(out).toBe('2\n0\n')
  })
})

test.each([
  ['that cannot be run', EXIT.error, true],
  ['that is not to be watched', EXIT.fine, false],
])('a command %s is run once', async (_, exitCode, isWatched) => {
  let runs = 0
  const ended = await runWatched((to) => {
    runs += 1
    to.err('told\n')
    to.out('shown\n')
    return Promise.resolve({ exitCode, isWatched })
  }, terminal())
  expect([ended, runs, out, err]).toEqual([exitCode, 1, 'shown\n', 'told\n'])
})
