import { describe, expect, test } from 'vitest'

import { describeLine, describeRecord } from '../../../src/canary/logs/records/describe-record.js'
import { judge, logSide } from '../../support/logs/log-side.js'

/** An ordinary event and a failure as each writer writes them; `{n}` is a value. */
const DIALECTS: Readonly<Record<string, readonly [object, object]>> = {
  pino: [
    { level: 30, time: 1718000000000, pid: 1, msg: 'order {n} stored' },
    {
      level: 50,
      time: 1718000000000,
      pid: 1,
      msg: 'order {n} refused',
      err: { type: 'StockError', message: 'none left' },
    },
  ],
  bunyan: [
    { name: 'shop', level: 30, msg: 'order {n} stored', v: 0 },
    {
      name: 'shop',
      level: 50,
      msg: 'order {n} refused',
      v: 0,
      err: { name: 'StockError', message: 'none left' },
    },
  ],
  zap: [
    { level: 'info', ts: 1718000000.1, caller: 'a.go:1', msg: 'order {n} stored' },
    { level: 'error', ts: 1718000000.1, caller: 'a.go:9', msg: 'order {n} refused', error: 'none left' },
  ],
  logrus: [
    { level: 'info', msg: 'order {n} stored', time: '2026-01-31T10:00:00Z' },
    { level: 'error', msg: 'order {n} refused', error: 'none left', time: '2026-01-31T10:00:00Z' },
  ],
  log4j: [
    { instant: { epochSecond: 1 }, level: 'INFO', loggerName: 'a.B', message: 'order {n} stored' },
    {
      instant: { epochSecond: 1 },
      level: 'ERROR',
      loggerName: 'a.B',
      message: 'order {n} refused',
      thrown: { name: 'a.StockException', message: 'none left' },
    },
  ],
  logback: [
    { '@timestamp': '2026-01-31T10:00:00Z', level: 'INFO', logger_name: 'a.B', message: 'order {n} stored' },
    {
      '@timestamp': '2026-01-31T10:00:00Z',
      level: 'ERROR',
      logger_name: 'a.B',
      message: 'order {n} refused',
      stack_trace: 'a.StockException: none left\n\tat a.B.buy(B.java:4)',
    },
  ],
  serilog: [
    { '@t': '2026-01-31T10:00:00Z', '@mt': 'order {Id} stored', Id: '{n}' },
    {
      '@t': '2026-01-31T10:00:00Z',
      '@mt': 'order {Id} refused',
      '@l': 'Error',
      '@x': 'StockException: none left\n   at B.Buy() in B.cs:line 4',
      Id: '{n}',
    },
  ],
  structlog: [
    { event: 'order {n} stored', level: 'info', timestamp: '2026-01-31T10:00:00Z' },
    { event: 'order {n} refused', level: 'error', timestamp: '2026-01-31T10:00:00Z' },
  ],
  ECS: [
    { '@timestamp': '2026-01-31T10:00:00Z', 'log.level': 'INFO', message: 'order {n} stored' },
    {
      '@timestamp': '2026-01-31T10:00:00Z',
      log: { level: 'ERROR' },
      message: 'order {n} refused',
      error: { type: 'StockError' },
    },
  ],
  OpenTelemetry: [
    { timeUnixNano: '1718000000000000000', severityNumber: 9, body: { stringValue: 'order {n} stored' } },
    { timeUnixNano: '1718000000000000000', severityNumber: 17, body: { stringValue: 'order {n} refused' } },
  ],
  Docker: [
    { log: '{"level":"info","msg":"order {n} stored"}\n', stream: 'stdout' },
    { log: '{"level":"error","msg":"order {n} refused"}\n', stream: 'stdout' },
  ],
  'an access log': [
    { method: 'GET', path: '/orders/{n}', status: 200, duration: 12 },
    { method: 'GET', path: '/orders/{n}', status: 503, duration: 12 },
  ],
}

describe.each(Object.entries(DIALECTS))('events in the JSON of %s', (_, [ordinary, failure]) => {
  const lines = (event: object) => JSON.stringify(event)
  const side = (failures: number) =>
    logSide([
      { text: lines(ordinary), times: 950 },
      { text: lines(failure), times: failures },
    ])

  test('fail a canary that logs a new error in every twentieth line', () => {
    const { report } = judge(side(0), side(50))
    expect(report.findings).toMatchObject([{ severity: 'error', change: 'new', canaryEvents: 50 }])
    expect(report.verdict).toBe('Fail')
  })

  test('are distinguished by their level, and no blame where both sides log them', () => {
    const { report } = judge(side(50), side(50))
    expect(report).toMatchObject({ verdict: 'Success', score: 100 })
    expect(report.findings).toHaveLength(1)
  })
})

describe('an event in JSON', () => {
  test.each([
    [{ message: 'closed', level: 'error', 'error.type': 'IOError' }, 'ERROR closed: IOError'],
    [{ message: 'ERROR closed', level: 'info' }, 'ERROR closed'],
    [{ msg: 'slow', level: 4 }, 'WARN slow'],
    [{ msg: 'langsam', level: 'Warnung' }, 'WARN langsam'],
    [{ msg: 'kein Lager', level: 'FEHLER' }, 'ERROR kein Lager'],
    [{ msg: 'read no error', level: 'TRC' }, 'DEBUG read no error'],
    [{ Nachricht: 1 }, undefined],
    [{ PRIORITY: '3', MESSAGE: 'cannot charge' }, 'ERROR cannot charge'],
    [[1], undefined],
    [{ status: 200 }, 'status=200'],
    [{ own: 'text', message: 'other' }, 'text', 'own'],
  ])('%j says %j', (record, says, field?: string) => {
    expect(describeRecord(record, field)).toBe(says)
  })

  test.each(['plain text', '{not JSON', '{"a":1}', `{"msg":"${'x'.repeat(70_000)}"}`])(
    'is a line of text where it is none: %#',
    (line) => {
      expect(describeLine(line)).toBe(line)
    },
  )
})
