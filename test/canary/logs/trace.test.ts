import { describe, expect, it } from 'vitest'

import { EventJoiner } from '../../../src/canary/logs/trace/event-joiner.js'
import type { LogEvent } from '../../../src/canary/logs/trace/event-joiner.js'
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

const RUBY = [
  "/srv/app/orders.rb:42:in `place': undefined method `id' for nil:NilClass (NoMethodError)",
  "\tfrom /usr/share/gems/rack/handler.rb:10:in `call'",
  "\tfrom /srv/app/api.rb:10:in `post'",
]
const RUBY_LOGGED = [
  'E, [2026-01-31T10:00:00 #1] ERROR -- : order 17 failed (RuntimeError)',
  "/usr/share/gems/rack/handler.rb:10:in `call'",
  "/srv/app/orders.rb:42:in 'Orders#place'",
]
const RUST = [
  "thread 'main' panicked at src/main.rs:5:5:",
  'index out of bounds: the len is 3 but the index is 17',
  'stack backtrace:',
  '   0: rust_begin_unwind',
  '             at /rustc/07dca48/library/std/src/panicking.rs:645:5',
  '   1: core::panicking::panic_fmt',
  '  10: shop::orders::place::h0123456789abcdef',
  '             at ./src/orders.rs:42:9',
  'note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.',
]
const RUST_SHORT = [
  "thread 'tokio-worker-1' (4711) panicked at src/main.rs:5:5:",
  'called `Option::unwrap()` on a `None` value',
  'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
]
const PHP = [
  'PHP Fatal error:  Uncaught App\\StockException: no stock for 17 in /srv/app/Orders.php:42',
  'Stack trace:',
  '#0 /srv/app/Api.php(10): App\\Orders->place(17)',
  '#1 [internal function]: App\\Api->post()',
  '#2 {main}',
  '  thrown in /srv/app/Orders.php on line 42',
]

const RECORD = '{"level":"error","message":"lost","stack":"Error: lost\\n    at buy (/srv/shop.js:1:2)"}'

function joinEvents(lines: readonly string[], pauseMs = 0): LogEvent[] {
  const joiner = new EventJoiner()
  const events = lines.map((line, place) => joiner.add(line, place * pauseMs))
  return [...events, joiner.end()].filter((event) => event !== undefined)
}

describe('lines of a stack trace', () => {
  it.each([
    ['Java', JAVA],
    ['JavaScript', NODE],
    ['Python', PYTHON],
    ['Go', GO],
    ['.NET', DOTNET],
    ['Ruby', RUBY],
    ['Ruby, by a logger', RUBY_LOGGED],
    ['Rust', RUST],
    ['Rust without its frames', RUST_SHORT],
    ['PHP', PHP],
  ])('are one event with the line they begin with: %s', (_language, trace) => {
    const events = joinEvents(['started', ...trace, 'stopped'], 1)
    expect(events.map(({ lines, atMs }) => [lines, atMs])).toEqual([
      [1, 0],
      [trace.length, 1],
      [1, trace.length + 1],
    ])
  })

  it('are the same event whether their letters are composed or decomposed', () => {
    const [composed, decomposed] = ['NFC', 'NFD'].map((form) =>
      joinEvents(['caf\u00e9 failed'.normalize(form)]),
    )
    expect(decomposed).toEqual(composed)
  })

  it('are one event where the indentation was lost', () => {
    expect(joinEvents(JAVA.map((line) => line.trim()))).toHaveLength(1)
  })

  it.each([
    ['two messages', ['started', 'stopped'], 2],
    ['two exceptions one after the other', ['a.b.CException: 1', 'a.b.CException: 2'], 2],
    ['an exception below a message that complains of nothing', ['started', 'a.b.CException: 1'], 2],
    ['lines that are all indented', ['  a', '  b'], 2],
    ['indented lines with deeper ones below', ['  a', '    in shop::stock', '  b', '    at main.rs:12'], 2],
    ['a message behind the end of a trace of Python', [...PYTHON, 'INFO: next'], 2],
    ['two uncaught exceptions of Ruby', [...RUBY, ...RUBY], 2],
    ['two panics of Rust', [...RUST_SHORT, ...RUST], 2],
    ['what comes behind a panic of Rust', [...RUST_SHORT, 'started', 'stopped'], 3],
    ['two errors of PHP', [...PHP, ...PHP], 2],
    ['a trace of Java above one of Python', [...JAVA, ...PYTHON.slice(1)], 2],
    ['a trace of JavaScript above one of Python', [...NODE, ...PYTHON.slice(1)], 2],
    ['a trace of .NET above one of Python', [...DOTNET, ...PYTHON.slice(1)], 2],
    ['a trace of Ruby above one of Python', [...RUBY, ...PYTHON.slice(1)], 2],
    ['a trace of PHP above one of Python', [...PHP, ...PYTHON.slice(1)], 2],
    ['a panic of Go above a trace of Python', [...GO, ...PYTHON.slice(1)], 2],
    ['a panic of Rust above a trace of Python', [...RUST, ...PYTHON.slice(1)], 2],
    ['two traces of Python', [...PYTHON.slice(1), ...PYTHON.slice(1)], 2],
    ['a trace of Python above one of JavaScript', [...PYTHON, ...NODE], 2],
    ['a record with its own trace above one of Python', [RECORD, ...PYTHON.slice(1)], 2],
    ['no lines', [], 0],
  ])('are not confused with %s', (_what, lines, events) => {
    expect(joinEvents(lines)).toHaveLength(events)
  })

  it.each([
    ['an exception', ['FATAL lost the leader', 'java.lang.OutOfMemoryError: heap']],
    ['a trace of Python', ['ERROR order 17 failed', ...PYTHON.slice(1, 5), 'KeyError: 17']],
  ])('belong to the message above unless they come a while later: %s', (_what, lines) => {
    expect(joinEvents(lines, 1000)).toHaveLength(1)
    const [message, ...rest] = lines
    expect(
      [message, rest[0]].map((text) =>
        joinEvents(lines, 6000).some((event) => event.text.split('\n')[0] === text),
      ),
    ).toEqual([true, true])
  })

  it('are one event however long they take to arrive, where they cannot stand alone', () => {
    expect(joinEvents(JAVA.slice(1), 6000)).toHaveLength(1)
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
    ['Ruby', RUBY, 'NoMethodError at /srv/app/orders.rb place'],
    ['Ruby, by a logger', RUBY_LOGGED, 'RuntimeError at /srv/app/orders.rb Orders#place'],
    ['Rust', RUST, 'panic at shop::orders::place'],
    ['PHP', PHP, 'App\\StockException at App\\Orders->place'],
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
