import { describe, expect, it, test } from 'vitest'

import type { LogSide } from '../../../src/canary/logs/model/types.js'
import { judge, logSide } from '../../support/logs/log-side.js'
import type { Repeated } from '../../support/logs/log-side.js'

const ORDINARY = { text: 'INFO request {n} served', times: 900 }
const TIME = '2026-11-21T06:00:14.000Z'

/** Texts of several lines as sources return them: line by line. */
const byLine = (entries: readonly Repeated[]): LogSide => {
  const side = logSide(entries)
  return {
    ...side,
    lines: [...side.lines].flatMap(({ atMs, text }) =>
      text.split('\n').map((line) => ({ atMs, text: line })),
    ),
  }
}

describe('a program in Go that reads from nowhere', () => {
  const CRASH = [
    'panic: runtime error: invalid memory address or nil pointer dereference',
    '[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x45]',
    '',
    'goroutine {n} [running]:',
    'main.(*Shop).Buy(0xc000010)',
    '\t/srv/shop.go:12 +0x1d',
    'exit status 2',
  ].join('\n')

  it.each([
    ['with the signal between the message and the goroutine', CRASH],
    ['twice at once', `${CRASH}\n${CRASH}`],
  ])('is one event a time, named by its own function: %s', (_, text) => {
    const { report } = judge(logSide([ORDINARY]), byLine([ORDINARY, { text, times: 20 }]))
    expect(report).toMatchObject({ verdict: 'Fail', endsRun: true })
    expect(report.findings.map(({ template, canaryEvents }) => [template, canaryEvents])).toEqual([
      ['panic at main.(*Shop).Buy', text === CRASH ? 20 : 40],
    ])
  })
})

describe('hosts of other names', () => {
  it.each([
    ['syslog without a process', (host: string) => `Nov 21 06:00:14 ${host} shop: ERROR cannot reserve {n}`],
    ['time, host and program', (host: string) => `${TIME} ${host} shop ERROR cannot reserve {n}`],
    [
      'CEF behind syslog',
      (host: string) => `<13>Nov 21 06:00:14 ${host} CEF:0|S|G|1|7|cannot reserve|8|cnt={n}`,
    ],
  ])('log the same: %s', (_, line) => {
    const side = (host: string) => logSide([ORDINARY, { text: line(host), times: 50 }])
    expect(judge(side('stable'), side('canary')).report).toMatchObject({ verdict: 'Success', score: 100 })
    expect(judge(logSide([ORDINARY]), side('canary')).report.verdict).toBe('Fail')
  })
})

describe('lines that the container runtime cut', () => {
  const line = `{"level":"info","msg":"order {n} placed","page":"${'x'.repeat(80)} ERROR page shown"}`
  const cut = [`${TIME} stdout P ${line.slice(0, 60)}`, `${TIME} stdout F ${line.slice(60)}`].join('\n')
  const whole = [{ text: `${TIME} stdout F ${line}`, times: 600 }]

  test('are read as one', () => {
    const { report } = judge(logSide(whole), byLine([{ text: cut, times: 600 }]))
    expect(report).toMatchObject({ verdict: 'Success', canary: { lines: 1200, events: 600 }, findings: [] })
  })

  test('are read as far as they came where the last part is missing', () => {
    const { report } = judge(
      logSide(whole),
      logSide([...whole, { text: `${TIME} stderr P ERROR out`, times: 1 }]),
    )
    expect(report.findings.map(({ template }) => template)).toEqual(['out'])
  })
})

describe('secrets in lines', () => {
  test('are in no part of a report', () => {
    const said = 'ERROR cannot open https://shop:Tr0ubadour@db.example/x with password=Tr0ubadour for key {n}'
    const cut = `ERROR ${'cannot open it '.repeat(32)} ghp_Tr0ubadourTr0ubadourTr0ubadour`
    const gone = 'INFO signed in with api_key=Tr0ubadour'
    const { report } = judge(
      logSide([ORDINARY, { text: gone, times: 600 }]),
      logSide([ORDINARY, { text: said, times: 60 }, { text: cut, times: 60 }]),
    )
    expect(report.verdict).toBe('Fail')
    expect(JSON.stringify(report)).toContain('[redacted]')
    expect(JSON.stringify(report)).not.toContain('Tr0uba')
  })
})

describe('a side that logs at other times than the other', () => {
  const late = (from: number, until: number): LogSide => {
    const side = logSide([ORDINARY])
    const isWithin = ({ atMs }: { atMs: number }): boolean => atMs >= from * 60_000 && atMs < until * 60_000
    return { ...side, lines: [...side.lines].filter(isWithin) }
  }

  it.each([
    [
      'a canary that begins later',
      logSide([ORDINARY]),
      late(10, 30),
      'The canary logged nothing in the first 10 of 30 minutes, the baseline 300 events',
    ],
    [
      'a baseline that begins later',
      late(10, 30),
      logSide([ORDINARY]),
      'The baseline logged nothing in the first 10 of 30 minutes, the canary 300 events',
    ],
    [
      'a baseline that stops',
      late(0, 20),
      logSide([ORDINARY]),
      'The baseline logged nothing in the last 10 of 30 minutes, the canary 300 events',
    ],
  ])('is told of: %s', (_, baseline, canary, says) => {
    const { report } = judge(baseline, canary)
    expect(report).toMatchObject({ verdict: 'Success', warnings: [says] })
  })

  test('needs a review where the canary begins later and falls silent again', () => {
    const { report } = judge(logSide([ORDINARY]), late(12, 22))
    expect(report.verdict).toBe('Review')
    expect(report.silence).toContain('nothing for the last 8 of 30 minutes, from minute 23 on')
  })

  test('does not make a start of errors that all came at one moment', () => {
    const atOnce = (entries: readonly Repeated[]): LogSide => {
      const side = logSide(entries)
      return { ...side, lines: [...side.lines].map((line) => ({ ...line, atMs: 60_000 })) }
    }
    const canary = atOnce([ORDINARY, { text: 'ERROR cannot reserve {n}', times: 60 }])
    expect(judge(atOnce([ORDINARY]), canary).report.reason).not.toContain('only in the first')
  })
})
