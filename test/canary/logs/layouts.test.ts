import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { splitHeader } from '../../../src/canary/logs/records/split-header.js'
import { judge, logSide } from '../../support/logs/log-side.js'

const MESSAGE = 'Cannot reach the store at 10.0.0.7'

describe('what a layout writes before the message', () => {
  it.each([
    [`2026-11-21 06:00:00,123 ERROR shop.Orders - ${MESSAGE}`, 'shop.Orders'],
    [
      `2026-11-21T06:00:00.123Z ERROR 1234 --- [nio-8080-exec-1] c.example.shop.Orders : ${MESSAGE}`,
      'c.example.shop.Orders',
    ],
    [`06:00:00.123 [main] ERROR com.example.Orders:42 - ${MESSAGE}`, 'com.example.Orders'],
    [`[2026-11-21 06:00:00] [error] ${MESSAGE}`, ''],
    [`2026-11-21 06:00:00,123 - orders - ERROR - ${MESSAGE}`, 'orders'],
    [`ERROR:shop.orders:${MESSAGE}`, 'shop.orders'],
    [`ERROR ${MESSAGE}`, ''],
    [`ERROR OrderService: ${MESSAGE}`, 'OrderService'],
    [`[06:00:00.123] ERROR (123): ${MESSAGE}`, ''],
    [`Nov 21 06:00:00 host-1 orders[12]: ERROR ${MESSAGE}`, 'orders'],
    [`E1121 06:00:00.123456   12 orders.go:34] ${MESSAGE}`, 'orders.go'],
    [`21/Nov/2026:06:00:00 +0000 ERROR ${MESSAGE}`, ''],
    [`Sat Nov 21 06:00:00 2026 error: ${MESSAGE}`, ''],
    [`time=2026-11-21T06:00:00Z level=error logger=orders msg="${MESSAGE}"`, 'orders'],
    [MESSAGE, ''],
  ])('is no part of it: %s', (line, logger) => {
    expect(splitHeader(line)).toEqual({ logger, message: MESSAGE })
  })

  it.each([
    'java.io.IOException: broken pipe',
    'Failed to connect - will try again',
    '10.0.0.1 - - [21/Nov/2026:06:00:00 +0000] "GET / HTTP/1.1" 200 12',
    'error: Received disconnect from 10.0.0.1',
    'orders.lines is empty',
    '2026-11-21 06:00:00',
  ])('is not looked for where there is none: %s', (line) => {
    expect(splitHeader(line)).toEqual({ logger: '', message: line })
  })

  it('keeps the name of an exception and the lines below', () => {
    const trace = 'java.io.IOException: broken pipe\n\tat shop.Orders.place(Orders.java:1)'
    expect(splitHeader(`06:00:00 ERROR ${trace}`).message).toBe(trace)
    expect(splitHeader('06:00:00 ERROR Timeout: no answer').message).toBe('Timeout: no answer')
  })

  it('keeps the fields that say what happened', () => {
    expect(splitHeader('level=warn msg="no answer" host=db1 ts=1').message).toBe('no answer host=db1')
  })

  it('leaves an end of every line, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '06:00:00 ERROR ', 'msg='),
        (text, head) => {
          const { message } = splitHeader(head + text)
          expect(head === 'msg=' || (head + text).endsWith(message)).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('a canary whose log has another layout', () => {
  const log = (line: (level: string, message: string) => string) =>
    logSide([
      { text: line('INFO', 'Request {n} was served in {n} ms'), times: 900 },
      { text: line('ERROR', 'Cannot reach the store at 10.0.0.{n}'), times: 40 },
      { text: line('ERROR', 'Payment {n} was declined by the bank'), times: 30 },
    ])
  const layouts: readonly [string, (level: string, message: string) => string][] = [
    ['another time', (level, message) => `[21/Nov/2026:06:00:00 +0000] ${level} shop.Orders - ${message}`],
    [
      'another logger',
      (level, message) => `2026-11-21 06:00:00,123 ${level} com.example.shop.OrderService - ${message}`,
    ],
    ['no logger', (level, message) => `${level} ${message}`],
    ['JSON', (level, msg) => JSON.stringify({ level, logger: 'shop.Orders', msg, time: 1 })],
    ['fields', (level, message) => `ts=1 level=${level.toLowerCase()} msg="${message}" logger=shop`],
  ]
  const before = (level: string, message: string): string =>
    `2026-11-21 06:00:00,123 ${level} shop.Orders - ${message}`

  it.each(layouts)('has no new errors: %s', (_name, layout) => {
    const { report } = judge(log(before), log(layout))
    expect(report).toMatchObject({ verdict: 'Success', score: 100 })
    expect(report.findings.map(({ change }) => change)).not.toContain('new')
  })

  it.each(layouts)('shows the errors that are new nevertheless: %s', (_name, layout) => {
    const canary = log(layout)
    const more = logSide([{ text: layout('ERROR', 'The cache lost key k{n}'), times: 50 }])
    const lines = [...canary.lines, ...more.lines].toSorted((a, b) => a.atMs - b.atMs)
    const { report } = judge(log(before), { ...canary, lines })
    expect(report.findings.filter(({ change }) => change === 'new')).toHaveLength(1)
    expect(report.verdict).not.toBe('Success')
  })

  it('is known again by what earlier releases logged', () => {
    const { templatesToRemember } = judge(log(before), log(before))
    const { report } = judge(undefined, log(layouts[0]![1]), { seenTemplates: templatesToRemember })
    expect(report.verdict).toBe('Success')
  })

  it('has a new error where another part says what the first one still says', () => {
    const error = (logger: string, times: number) => ({
      text: `06:00:00 ERROR ${logger} - Timed out after {n} ms`,
      times,
    })
    const info = { text: '06:00:00 INFO shop.Orders - order {n} placed', times: 500 }
    const { report } = judge(
      logSide([info, error('shop.Orders', 40)]),
      logSide([info, error('shop.Orders', 40), error('shop.Cache', 40)]),
    )
    expect(report.findings.filter(({ change }) => change === 'new').map(({ template }) => template)).toEqual([
      'shop.Cache: Timed out after <*>',
    ])
  })
})
