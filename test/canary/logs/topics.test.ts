import { describe, expect, it } from 'vitest'

import { DEFAULT_TOPICS } from '../../../src/canary/logs/topics/default-topics.js'
import { joinTopics, topicFinder } from '../../../src/canary/logs/topics/find-topic.js'

const severityOf = (text: string): string | undefined => topicFinder(DEFAULT_TOPICS)(text)?.severity

const MAX_MS = 5000

describe('the default topics', () => {
  it('are the 21 that the clients send', () => {
    expect(DEFAULT_TOPICS).toHaveLength(21)
    expect(new Set(DEFAULT_TOPICS.map(({ string }) => string)).size).toBe(21)
  })

  it.each([
    ['java.lang.NullPointerException: x', 'critical'],
    ['java.lang.NumberFormatException: x', 'error'],
    ['com.shop.OrderException: x', 'error'],
    ['FATAL: no space', 'critical'],
    ['request done status=500 in 3 ms', 'error'],
    ['request done status=5003', undefined],
    ['TypeError: x is undefined', 'error'],
    ['2026-01-31 10:00:00 ERROR [main] shop: closed', 'error'],
    ['2026-01-31 10:00:00 WARN [main] retry after error', 'warn'],
    ['2026-01-31 10:00:00 WARN [main] retry after IOException', 'warn'],
    ['2026-01-31 10:00:00 INFO [main] error page rendered', undefined],
    ['2026-01-31 10:00:00 INFO caught NullPointerException, going on', undefined],
    ['2026-01-31 10:00:00 WARN retry after NullPointerException', 'warn'],
    ['E0102 15:04:05.678901      12 server.go:34] no route', 'error'],
    ['I0102 15:04:05.678901      12 server.go:34] error page rendered', undefined],
    ['10.0.0.1 - - [31/Jan/2026:10:00:00 +0000] "GET /cart HTTP/1.1" 502 12', 'error'],
    ['10.0.0.1 - - [31/Jan/2026:10:00:00 +0000] "GET /error HTTP/1.1" 200 12', undefined],
    ['{"level":"warning","msg":"slow"}', 'warn'],
    ['level=info msg="0 errors"', undefined],
    ['level=fatal msg="gone"', 'critical'],
    ['finished with 0 errors and no warnings', undefined],
    ['finished with 10 errors', 'error'],
    ['done error=null', undefined],
    ['done error=nullpointer', 'error'],
    ['ready', undefined],
    ['', undefined],
  ])('%s: %s', (text, severity) => {
    expect(severityOf(text)).toBe(severity)
  })
})

describe('a long line', () => {
  it.each([
    ['a path of many numbers', `GET ${'/1'.repeat(8000)}`, undefined],
    ['the times of HAProxy', `shop${'/1'.repeat(8000)} 503 212 - - "GET /cart HTTP/1.1"`, 'error'],
    ['beginnings of LEEF', ' LEEF:1|'.repeat(8000), undefined],
    ['reports of Lambda', `{${'"type":"platform.report",'.repeat(6000)}`, undefined],
  ])(
    'is read soon: %s',
    (_, line, severity) => {
      // Searched to its end from each number, one of these takes most of a second.
      const found = Array.from({ length: 20 }, () => severityOf(line))
      expect(new Set(found)).toEqual(new Set([severity]))
    },
    MAX_MS,
  )
})

describe('own topics', () => {
  it('replace a default one of the same text, whatever its case', () => {
    const find = topicFinder(joinTopics([{ string: 'nullPointerException', severity: 'ignore' }], false))
    expect(find('NullPointerException')?.severity).toBe('ignore')
    expect(find('StackOverflowError')?.severity).toBe('critical')
  })

  it('win over shorter ones', () => {
    const find = topicFinder(joinTopics([{ string: 'Connection reset by peer', severity: 'warn' }], false))
    expect(find('ERROR Connection reset by peer')?.severity).toBe('warn')
  })

  it('stand alone when the default ones are left out', () => {
    const find = topicFinder(joinTopics([{ string: 'oops', severity: 'error' }], true))
    expect([find('FATAL'), find('OOPS')?.severity]).toEqual([undefined, 'error'])
  })

  it('of one text are decided by the more severe one', () => {
    const find = topicFinder([
      { string: 'abc', severity: 'warn' },
      { string: 'xyz', severity: 'critical' },
    ])
    expect(find('abc xyz')?.severity).toBe('critical')
  })
})
