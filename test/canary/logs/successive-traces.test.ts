import { expect, test } from 'vitest'

import { EventJoiner } from '../../../src/canary/logs/trace/event-joiner.js'

const PYTHON = [
  'Traceback (most recent call last):',
  '  File "/srv/shop.py", line 12, in buy',
  '    raise X()',
  'ValueError: no stock',
]
const GO = [
  'panic: runtime error: index out of range',
  '',
  'goroutine 1 [running]:',
  'main.buy(0x1)',
  '\t/srv/shop.go:12 +0x1d',
  'main.main()',
  '\t/srv/main.go:4 +0x1d',
]
/** Events that have their trace with them. */
const TRACES: Readonly<Record<string, readonly string[]>> = {
  Java: ['com.shop.StockException: no stock', '\tat com.shop.Buy.run(Buy.java:12)'],
  JavaScript: [
    'TypeError: cannot read x',
    '    at buy (/srv/shop.js:12:3)',
    'at Shop.sell (/srv/shop.js:20:5)',
    '    at /srv/main.js:4:1',
  ],
  '.NET': [
    'Unhandled exception. System.InvalidOperationException: no stock',
    '   at Shop.Buy() in /srv/a.cs:line 12',
  ],
  'asynchronous .NET': [
    'System.InvalidOperationException: no stock',
    '   at Shop.Buy()',
    '--- End of stack trace from previous location ---',
    '   at Shop.Main()',
  ],
  Ruby: ["/srv/shop.rb:12:in 'buy': no stock (RuntimeError)", "\tfrom /srv/main.rb:4:in '<main>'"],
  Python: PYTHON,
  'chained Python': [
    ...PYTHON,
    ...['', 'During handling of the above exception, another exception occurred:', ''],
    ...PYTHON,
  ],
  Go: GO,
  'ended Go': [...GO, 'exit status 2'],
  Rust: [
    "thread 'main' panicked at src/main.rs:5:5:",
    'no stock',
    'stack backtrace:',
    '   0: shop::buy',
    '             at ./src/main.rs:5:5',
    'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
  ],
  PHP: [
    'PHP Fatal error:  Uncaught Exception: no stock in /srv/shop.php:12',
    'Stack trace:',
    '#0 /srv/main.php(4): buy()',
    '#1 {main}',
    '  thrown in /srv/shop.php on line 12',
  ],
  JSON: ['{"level":"error","msg":"order failed","stack":"Error: x\\n    at buy (/srv/shop.js:1:2)"}'],
}

function eventsOf(lines: readonly string[]): readonly number[] {
  const joiner = new EventJoiner()
  const events = lines.map((line) => joiner.add(line))
  return [...events, joiner.end()].flatMap((event) => (event === undefined ? [] : [event.lines]))
}

const PAIRS = Object.keys(TRACES).flatMap((first) =>
  Object.keys(TRACES).map((second) => [first, second] as const),
)

test.each(['', '\r'])(
  'traces in direct succession are events of their own, with %j at their line ends',
  (end) => {
    const joined = PAIRS.filter(([first, second]) => {
      const both = [TRACES[first] ?? [], TRACES[second] ?? []]
      const events = eventsOf([...both, ...both].flat().map((line) => line + end))
      return events.join() !== [...both, ...both].map(({ length }) => length).join()
    })
    expect(joined).toEqual([])
  },
)
