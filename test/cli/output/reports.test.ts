import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { checkReportText } from '../../../src/cli/check/check-report.js'
import { makeColours } from '../../../src/cli/output/colours.js'
import { Progress } from '../../../src/cli/output/progress.js'
import { errorText, reportFailure } from '../../../src/cli/output/report-failure.js'
import { count, textTable } from '../../../src/cli/output/text-table.js'
import { lineNumbers, lineRanges } from '../../../src/lib/text/line-ranges.js'
import type { Terminal } from '../../../src/cli/session/terminal.js'

function recordingTerminal(showsProgress: boolean): { terminal: Terminal; err: string[]; out: string[] } {
  const err: string[] = []
  const out: string[] = []
  const terminal: Terminal = {
    out: (text) => out.push(text),
    outBytes: () => Promise.resolve(true),
    err: (text) => err.push(text),
    readStdin: () => Promise.resolve(Buffer.alloc(0)),
    env: {},
    ownsProcess: false,
    isInteractive: false,
    showsProgress,
    hasColours: false,
  }
  return { terminal, err, out }
}

describe('a report', () => {
  const finding = {
    file: 'a.json',
    name: 'a',
    as: 'pipeline' as const,
    allowed: true,
    denials: [],
    warnings: [],
  }

  test('is coloured on a terminal only', () => {
    expect(checkReportText([finding], makeColours(true))).toContain('\u001b[32mallowed\u001b[39m')
    expect(checkReportText([finding], makeColours(false))).not.toContain('\u001b')
  })

  test('shows what others wrote without letting it act on the terminal', () => {
    const title = 'a\u001b]0;title\u0007'
    expect(textTable([[title, 'two\r\nlines'], ['\u202etxet']])).toBe(
      'a\ufffd]0;title\ufffd  two lines\n\ufffdtxet\n',
    )
    expect(errorText(new AppError('conflict', `${title}\nnext`))).toBe(
      'tidegate: a\ufffd]0;title\ufffd\nnext\n',
    )
  })

  test('stands in columns, numbers to the right', () => {
    const rows = [
      ['9 %', 'a', 'x'],
      ['100 %', 'longer'],
    ]
    expect(textTable(rows, [0])).toBe('  9 %  a       x\n100 %  longer\n')
  })

  test('counts in the singular and the plural', () => {
    expect([count(0, 'file'), count(1, 'file'), count(2, 'file')]).toEqual(['0 files', '1 file', '2 files'])
  })

  test('writes lines as ranges', () => {
    const range = (start: number, end: number) => ({ start: { row: start }, end: { row: end } })
    expect(lineRanges(lineNumbers([range(7, 9), range(3, 3), range(8, 10)]))).toBe('3, 7-10')
  })
})

describe('progress', () => {
  test('is silent in the first second', () => {
    let now = 0
    const { terminal, err } = recordingTerminal(true)
    const progress = new Progress(terminal, () => now)
    now = 999
    progress.show('checking …')
    progress.end()
    expect(err).toEqual([])
  })

  test('is drawn after it, at most ten times a second, and removed at the end', () => {
    let now = 0
    const { terminal, err } = recordingTerminal(true)
    const progress = new Progress(terminal, () => now)
    for (now = 1000; now < 1200; now += 50) progress.show(`at ${now}`)
    progress.end()
    expect(err).toEqual(['\r\u001b[Kat 1000', '\r\u001b[Kat 1100', '\r\u001b[K'])
  })

  test('is nothing where nobody watches', () => {
    let now = 0
    const { terminal, err } = recordingTerminal(false)
    const progress = new Progress(terminal, () => now)
    now = 5000
    progress.show('checking …')
    progress.end()
    expect(err).toEqual([])
  })
})

describe('a fault of the program itself', () => {
  test('is told as such, without a stack', () => {
    const { terminal, err } = recordingTerminal(false)
    expect(reportFailure(new TypeError('x is not y'), terminal, { isJson: false, debug: false })).toBe(2)
    expect(err).toEqual(['tidegate: x is not y (this is a bug in tidegate; --debug shows the stack trace)\n'])
  })

  test.each([
    [Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }), 'ulimit -n'],
    [Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }), '--data-dir'],
    [new RangeError('WebAssembly.Memory(): could not allocate memory'), 'ulimit -v'],
    [
      new Error('outer', {
        cause: new Error(
          'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance',
        ),
      }),
      'ulimit -v',
    ],
  ])('is none where the machine is at a limit: %s', (error, advice) => {
    const { terminal, err } = recordingTerminal(false)
    expect(reportFailure(error, terminal, { isJson: false, debug: false })).toBe(2)
    expect(err.join('')).toContain(advice)
    expect(err.join('')).not.toContain('bug in tidegate')
  })

  test('shows its stack and causes with --debug', () => {
    const { terminal, err, out } = recordingTerminal(false)
    const error = new Error('outer', { cause: new Error('inner') })
    expect(reportFailure(error, terminal, { isJson: true, debug: true })).toBe(2)
    expect(JSON.parse(out.join(''))).toMatchObject({ code: 'internal_error' })
    expect(err.join('')).toMatch(/^Error: outer\n {4}at [^]*\ncaused by Error: inner\n {4}at /)
  })
})
