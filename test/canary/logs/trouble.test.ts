import { describe, expect, test } from 'vitest'

import { seededRandom } from '../../../src/canary/judge/series/seeded-random.js'
import type { LogSide } from '../../../src/canary/logs/model/types.js'
import { judge, logSide } from '../../support/logs/log-side.js'
import type { Repeated } from '../../support/logs/log-side.js'

const ORDINARY = { text: 'INFO request {n} served', times: 900 }
const MINUTE_MS = 60_000

describe('a stream that stops', () => {
  const baseline = logSide([ORDINARY])
  const without = (from: number, to: number) => ({
    ...baseline,
    lines: [...baseline.lines].filter(({ atMs }) => atMs < from * MINUTE_MS || atMs >= to * MINUTE_MS),
  })

  test.each([
    ['at a third of the window', without(10, 30), 'for the last 20 of 30 minutes, from minute 11 on'],
    ['for some minutes in the middle', without(12, 17), 'for 5 of 30 minutes, from minute 13 on'],
  ])('%s needs a review, and is said', (_, canary, says) => {
    const { report } = judge(baseline, canary)
    expect(report.verdict).toBe('Review')
    expect(report.score).toBeLessThan(90)
    for (const text of [report.reason, report.silence, report.warnings.join()]) expect(text).toContain(says)
  })

  test.each([
    ['beside a baseline that stops too', without(10, 30), without(10, 30)],
    ['in a log that is often silent', without(5, 6), logSide([{ ...ORDINARY, times: 6 }])],
    ['before the canary has begun', baseline, without(0, 10)],
  ])('is none %s', (_, before, canary) => {
    expect(judge(before, canary).report).toMatchObject({ silence: null, verdict: 'Success' })
  })
})

describe('work that the canary does not do', () => {
  const health = { text: 'INFO probe {n} answered', times: 100 }
  const baseline = logSide([ORDINARY, health])

  test('needs a review where a fifth of the lines is gone and nothing came instead', () => {
    const { report } = judge(baseline, logSide([health]))
    expect(report).toMatchObject({ verdict: 'Review', score: expect.closeTo(89.99) as number })
    expect(report.reason).toContain(
      'The canary logs nothing like "request <*> served", 90 % of the ordinary lines of the baseline (900)',
    )
  })

  test.each([
    ['says the same in other words', [health, { text: 'INFO answered client {n} at last', times: 880 }]],
    [
      'lacks what came in one burst',
      [health, ORDINARY],
      [{ text: 'INFO row {n} imported', times: 600, inMinute: 4 }],
    ],
    [
      'has a tenth of the traffic',
      [
        { ...health, times: 10 },
        { ...ORDINARY, times: 90 },
      ],
    ],
  ])('is none where the canary %s', (_, canary, more: Repeated[] = []) => {
    const before = logSide([ORDINARY, health, ...more])
    expect(judge(before, logSide(canary)).report.verdict).toBe('Success')
  })
})

test('an ordinary line that comes many times as often is told of and costs nothing', () => {
  const retries = (times: number): Repeated => ({ text: 'INFO retrying call {n} to billing', times })
  const { report } = judge(logSide([ORDINARY, retries(5)]), logSide([ORDINARY, retries(900)]))
  expect(report.verdict).toBe('Success')
  expect(report.warnings).toEqual([
    expect.stringMatching(
      /^The canary logs "retrying call <\*> to billing" at least \d+ times as often by exposure: 900, 5 /,
    ),
  ])
})

test('an error that became a warning is no new warning', () => {
  const said = (level: string): Repeated => ({ text: `${level} no stock of item {n}`, times: 60 })
  const canary = logSide([ORDINARY, said('WARN')])
  expect(judge(logSide([ORDINARY, said('ERROR')]), canary).report.verdict).toBe('Success')
  expect(judge(logSide([ORDINARY, said('INFO')]), canary).report.verdict).not.toBe('Success')
})

test('a topic of the template is no other one of the same severity', () => {
  const topics = ['db-7', 'db-9'].map((string) => ({ string, severity: 'error' as const }))
  const lost = (host: string): Repeated => ({ text: `no answer from ${host} to call {n}`, times: 60 })
  const { report } = judge(logSide([ORDINARY, lost('db-7')]), logSide([ORDINARY, lost('db-9')]), { topics })
  expect(report.verdict).not.toBe('Success')
})

test.each([
  'ERROR sync of {n} failed: @',
  'ERROR sync of {n} failed (@)',
  'ERROR sync of {n} failed by @',
  'ERROR sync of {n} failed due to @ in shop',
  'ERROR sync of {n} ended with reason=@',
  'level=error msg="sync of {n}" error_code="@"',
  'level=error msg="sync of {n}" exception.class="@"',
])('a new cause of failures is not taken for a value: %s', (text) => {
  for (const [known, fresh] of [
    [['ConnReset', 'TlsHandshake'], 'DiskFull'],
    [['conn_reset', 'tls_handshake'], 'disk_full'],
  ] as const) {
    const failed = (cause: string): Repeated => ({ text: text.replace('@', cause), times: 60 })
    const before = [ORDINARY, ...known.map(failed)]
    const { report } = judge(logSide(before), logSide([...before, failed(fresh)]))
    expect(report.verdict).toBe('Fail')
    expect(report.reason).toContain(fresh)
  }
})

test('the severity is said where other lines of the same words have none', () => {
  const request = (status: number, times: number): Repeated => ({
    text: `"GET /items/{n} HTTP/1.1" ${status} 12`,
    times,
  })
  const { report } = judge(
    logSide([request(200, 900), request(503, 5)]),
    logSide([request(200, 850), request(503, 60)]),
  )
  expect(report.reason).toContain('More frequent with severity error: 60 in the canary, 5 in the baseline')
})

describe('much worse', () => {
  const letters = (n: number) => String(n).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))

  test('is what every kind of error together is, though none repeats', () => {
    const errors = (count: number, from: number) =>
      Array.from({ length: count }, (_, n) => ({
        text: `ERROR ${letters(from + n)} ${'so it '.repeat((n % 7) + 1)}${letters(n * 31)}`,
        times: 1,
        inMinute: n % 30,
      }))
    const { report } = judge(
      logSide([ORDINARY, ...errors(6, 1000)]),
      logSide([ORDINARY, ...errors(60, 2000)]),
    )
    expect(report.verdict).not.toBe('Success')
    expect(report.findings[0]).toMatchObject({ template: '<all errors together>', canaryEvents: 60 })
  })

  test('is not hidden by lines of another kind that only the canary writes', () => {
    const failure = (times: number) => ({ text: 'ERROR order {n} not stored', times })
    const chatty = { text: 'INFO cache {n} looked at', times: 9000 }
    const { report } = judge(logSide([ORDINARY, failure(20)]), logSide([ORDINARY, chatty, failure(200)]))
    expect(report.exposure).toMatchObject({ baseline: 900, canary: 900 })
    expect(report.verdict).toBe('Fail')
  })

  test('weighs by the share of lines that it hits', () => {
    const score = (times: number) =>
      judge(logSide([ORDINARY]), logSide([ORDINARY, { text: 'ERROR order {n} not stored', times }])).report
        .score
    expect(score(45)).toBeLessThan(70)
    expect(score(12)).toBeGreaterThan(70)
  })
})

test('critical kinds that are known and rare fail no run without a change', () => {
  const random = seededRandom(11)
  const kinds = [
    'OutOfMemoryError',
    'StackOverflowError',
    'FATAL disk',
    'SEVERE clock',
    'NullPointerException',
  ]
  const side = () =>
    logSide([
      ORDINARY,
      ...kinds.map((kind) => ({
        text: `${kind} at {n}`,
        times: [0, 0, 1, 1, 2, 2][Math.floor(random() * 6)] ?? 0,
      })),
    ])
  const all = logSide([ORDINARY, ...kinds.map((kind) => ({ text: `${kind} at {n}`, times: 3 }))])
  const { templatesToRemember: seenTemplates } = judge(all, all)
  const verdicts = Array.from({ length: 60 }, () => judge(side(), side(), { seenTemplates }).report.verdict)
  expect(verdicts.filter((verdict) => verdict !== 'Success')).toEqual([])
})

describe('what nobody would sign', () => {
  const errors = (times: number, inMinute: number) => ({ text: 'ERROR stock {n} refused', times, inMinute })

  test('a burst of errors that nobody logged before needs a review', () => {
    const canary = logSide([ORDINARY, errors(200, 12)])
    const { report, templatesToRemember } = judge(logSide([ORDINARY]), canary)
    expect(report).toMatchObject({ verdict: 'Review', endsRun: false })
    expect(report.reason).toContain(
      'New, in bursts: 200 in the canary, 0 in the baseline. This needs a review',
    )
    const known = judge(logSide([ORDINARY]), canary, { seenTemplates: templatesToRemember }).report
    expect(known.verdict).toBe('Success')
  })

  test.each(['java.lang.OutOfMemoryError: Java heap space', 'panic: runtime error: index out of range [3]'])(
    'so is the end of a program, were it but one: %s',
    (text) => {
      const { report } = judge(logSide([ORDINARY]), logSide([ORDINARY, { text, times: 1 }]))
      expect(report.verdict).toBe('Review')
      expect(
        judge(logSide([ORDINARY]), logSide([ORDINARY, { text: `INFO no ${text}`, times: 1 }])).report.verdict,
      ).toBe('Success')
    },
  )

  test('a growth that is certain and small is not called chance', () => {
    const failing = (times: number) => logSide([ORDINARY, { text: 'ERROR order {n} not stored', times }])
    const { report } = judge(failing(60), failing(105))
    expect(report.findings[0]?.reason).toMatch(
      /More frequent \(p [<=] 0\.\d+\), but possibly only 1\.\d times/,
    )
    expect(report.findings[0]?.reason).not.toContain('chance')
  })
})

test('an object in JSON over several lines is named by its message', () => {
  const event = (level: string, message: string, times: number): Repeated => ({
    text: JSON.stringify({ level, message }, null, 2),
    times,
  })
  const side = (...events: Repeated[]): LogSide => {
    const { lines, ...rest } = logSide(events)
    return {
      ...rest,
      lines: [...lines].flatMap(({ atMs, text }) => text.split('\n').map((line) => ({ atMs, text: line }))),
    }
  }
  const ordinary = event('info', 'order {n} placed', 900)
  const { report } = judge(side(ordinary), side(ordinary, event('error', 'no stock of item {n}', 40)))
  expect(report.reason).toMatch(/^"no stock of item <\*>": New: 40 in the canary/)
})

describe('an error as often as one that is gone', () => {
  const trace = (frame: string) =>
    `ERROR no answer\njava.lang.IllegalStateException: {n}\n\tat ${frame}(A.java:7)`
  test.each([
    [
      'is reworded',
      'ERROR cannot reserve item {n}: stock gave no answer',
      'ERROR could not reserve item {n} (stock gave no answer)',
    ],
    ['is thrown in another function', trace('shop.Stock.reserve'), trace('shop.stock.Reservation.take')],
    ['was a warning', 'WARN cannot reserve item {n}', 'ERROR cannot reserve item {n}'],
  ])('needs a review where it %s', (_, before, now) => {
    const side = (text: string, times: number) => logSide([ORDINARY, { text, times }])
    const { report } = judge(side(before, 60), side(now, 55))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toMatch(
      /New, and about as frequent as ".*", which the canary no longer logs \(60 in the baseline\)/,
    )
    expect(judge(side(before, 20), side(now, 60)).report.verdict).toBe('Fail')
  })

  test('is another one where it says something else', () => {
    const side = (text: string) => logSide([ORDINARY, { text, times: 60 }])
    const { report } = judge(
      side('ERROR payment {n} declined by bank'),
      side('ERROR cannot reserve item {n}'),
    )
    expect(report.verdict).toBe('Fail')
  })
})

describe('without ordinary lines', () => {
  test('people are asked where errors are twice as many', () => {
    const side = (times: number) => logSide([{ text: 'ERROR tick {n} failed', times }])
    const { report } = judge(side(1500), side(3000))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toBe(
      '"tick <*> failed": More frequent: 3000 in the canary, 1500 in the baseline. At least 1.9 times as many by exposure',
    )
  })

  test('a canary that logs nothing but errors next to a baseline that logs none fails', () => {
    const canary = logSide([{ text: 'ERROR cannot reserve item {n}', times: 200 }])
    expect(judge(logSide([ORDINARY]), canary).report.verdict).toBe('Fail')
  })
})
