import { describe, expect, it } from 'vitest'

import { EventJoiner } from '../../../src/analysis/logs/trace/event-joiner.js'
import type { LogEvent } from '../../../src/analysis/logs/trace/event-joiner.js'
import { clusterLines } from '../../support/logs/cluster-lines.js'

const JAVA = [
  '2026-01-31 10:00:00 ERROR order 17 failed',
  'com.shop.OrderException: no stock for 17',
  '\tat java.util.Objects.requireNonNull(Objects.java:221)',
  '\tat com.shop.Orders.place(Orders.java:42)',
  '\tat com.shop.Api.post(Api.java:10)',
  'Caused by: java.lang.NullPointerException',
  '\t... 3 more',
]
const NODE = [
  'TypeError: cannot read x of undefined',
  '    at node:internal/fs:12:1',
  '    at Shop.buy (/srv/app/shop.js:12:3)',
  '    at /srv/app/main.js:3:9',
]
const PYTHON = [
  'ERROR:root:order 17 failed',
  'Traceback (most recent call last):',
  '  File "/srv/app/api.py", line 10, in post',
  '    place(order)',
  '  File "/srv/app/orders.py", line 42, in place',
  '    raise KeyError(order)',
  '  File "/usr/lib/python3/json/decoder.py", line 4, in decode',
  '    raise x',
  'KeyError: 17',
  '',
  'During handling of the above exception, another exception occurred:',
  '',
  'Traceback (most recent call last):',
  '  File "/srv/app/api.py", line 12, in post',
  '    undo(order)',
  'shop.UndoError: too late',
]
const GO = [
  'panic: runtime error: index out of range [3]',
  '',
  'goroutine 1 [running]:',
  'runtime.gopanic(0x1234)',
  '\t/usr/local/go/src/runtime/panic.go:884 +0x213',
  'main.(*Shop).Buy(0xc000012345, 0x3)',
  '\t/srv/app/shop.go:12 +0x1d',
  'created by main.main',
  '\t/srv/app/main.go:9 +0x2',
]
const DOTNET = [
  'Unhandled exception. System.InvalidOperationException: closed',
  '   at System.Net.Http.HttpClient.Send(HttpRequestMessage request)',
  '   at Shop.Orders.Place(Int32 id) in /src/Orders.cs:line 12',
]

function joinEvents(lines: readonly string[]): LogEvent[] {
  const joiner = new EventJoiner()
  const events = lines.map((line, place) => joiner.add(line, place))
  return [...events, joiner.end()].filter((event) => event !== undefined)
}

describe('lines of a stack trace', () => {
  it.each([
    ['Java', JAVA],
    ['JavaScript', NODE],
    ['Python', PYTHON],
    ['Go', GO],
    ['.NET', DOTNET],
  ])('are one event with the line they begin with: %s', (_language, trace) => {
    const events = joinEvents(['started', ...trace, 'stopped'])
    expect(events.map(({ lines, origin }) => [lines, origin])).toEqual([
      [1, 0],
      [trace.length, 1],
      [1, trace.length + 1],
    ])
  })

  it('are one event where the indentation was lost', () => {
    expect(joinEvents(JAVA.map((line) => line.trim()))).toHaveLength(1)
  })

  it.each([
    ['two messages', ['started', 'stopped'], 2],
    ['two exceptions one after the other', ['a.b.CException: 1', 'a.b.CException: 2'], 2],
    ['an exception below a message that complains of nothing', ['started', 'a.b.CException: 1'], 2],
    ['lines that are all indented', ['  a', '  b'], 2],
    ['a message behind the end of a trace of Python', [...PYTHON, 'INFO: next'], 2],
    ['no lines', [], 0],
  ])('are not confused with %s', (_what, lines, events) => {
    expect(joinEvents(lines)).toHaveLength(events)
  })

  it('are kept up to a limit', () => {
    const [event] = joinEvents([
      'x failed',
      ...Array.from({ length: 5000 }, (_, i) => `\tat a.b(C.java:${i})`),
    ])
    expect(event?.lines).toBe(5001)
    expect(event?.text.split('\n')).toHaveLength(100)
  })
})

describe('the template of a stack trace', () => {
  it.each([
    ['Java', JAVA, 'com.shop.OrderException at com.shop.Orders.place'],
    ['JavaScript', NODE, 'TypeError at Shop.buy /srv/app/shop.js'],
    ['Python', PYTHON.slice(0, 9), 'KeyError at /srv/app/orders.py place'],
    ['Go', GO, 'panic at main.(*Shop).Buy'],
    ['.NET', DOTNET, 'System.InvalidOperationException at Shop.Orders.Place'],
  ])('is its exception and the first frame of own code: %s', (_language, trace, template) => {
    expect(clusterLines([trace.join('\n')])[0]?.text).toBe(template)
  })

  it('is the same for another message and other line numbers, and not for another place or exception', () => {
    const other = (from: string | RegExp, to: string): string => JAVA.join('\n').replace(from, to)
    const ids = clusterLines([
      JAVA.join('\n'),
      other(/17/g, 'unknown').replace('Orders.java:42', 'Orders.java:55'),
      other('Orders.place', 'Orders.cancel'),
      other('OrderException', 'StockException'),
      other('Orders.place', 'Orders.refund'),
    ]).map(({ id }) => id)
    expect(ids).toEqual([1, 1, 2, 3, 4])
  })

  it('leaves out what a run time numbers anew at each start', () => {
    const frame = (name: string): string =>
      `java.lang.Error: x\n\tat com.shop.Q$$Lambda$${name}.run(Q.java:1)`
    const [first, second] = clusterLines([frame('14/0x00ff12'), frame('99/0x00aa34')])
    expect(first).toEqual(second)
  })

  it('is the first line alone for an event of several lines without frames', () => {
    const [first, second] = clusterLines([
      'query 1 failed:\n  select a',
      'query 2 failed:\n  select b\n  from c',
    ])
    expect(first).toEqual({ id: 1, text: 'query <*> failed:' })
    expect(second).toEqual(first)
  })
})
