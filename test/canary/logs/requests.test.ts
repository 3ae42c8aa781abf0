import { describe, expect, it } from 'vitest'

import { readRequest } from '../../../src/canary/logs/requests/read-request.js'
import { describeLine } from '../../../src/canary/logs/records/describe-record.js'
import { judge, logSide } from '../../support/logs/log-side.js'

const CLF = '10.0.0.7 - - [21/Nov/2026:06:00:14 +0000]'
const read = (line: string): readonly [string, number, number | undefined] | undefined => {
  const found = readRequest(describeLine(line))
  if (found === undefined) return undefined
  const { route, status, logDuration } = found
  return [
    route,
    status,
    logDuration === undefined ? undefined : Math.round(1000 * Math.exp(logDuration)) / 1000,
  ]
}

describe('a line of an access log tells route, status and how long it took', () => {
  it.each([
    [`${CLF} "GET /orders/17?x=1 HTTP/1.1" 404 153 "-" "curl/8"`, ['GET /orders/*', 404, undefined]],
    [`${CLF} "GET / HTTP/1.1" 200 153 "-" "curl/8" 0.123`, ['GET /', 200, 0.124]],
    [`${CLF} "GET / HTTP/1.1" 200 153 "-" "curl/8" rt=0.123 uct="0.001"`, ['GET /', 200, 0.124]],
    [`${CLF} "GET / HTTP/1.1" 200 153 "-" "curl/8" 4531`, ['GET /', 200, 4532]],
    [
      '[2026-11-21T06:00:14Z] "POST /a HTTP/2" 429 - 0 61 34 33 "-" "x" "y" "z" "10.0.0.9:80"',
      ['POST /a', 429, 35],
    ],
    ['[x] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 61 34 33 "-" "x"', ['GET /a', 200, 35]],
    ['fe be/s1 0/0/1/2/38 404 212 - - ---- 1/1/0/0/0 0/0 "GET /a HTTP/1.1"', ['GET /a', 404, 39]],
    ['GET /a 200 12.1 ms - 45', ['GET /a', 200, 12.2]],
    ['[GIN] 2026/11/21 - 06:00:14 | 404 |    1.5ms | 10.0.0.7 | GET      "/a/b"', ['GET /a/b', 404, 1.6]],
    ['Completed 404 Not Found in 12ms (Views: 1.1ms)', ['', 404, 13]],
    ['{"method":"GET","path":"/a","status":200,"responseTime":45}', ['GET /a', 200, 46]],
    [
      '{"req":{"method":"GET","url":"/a/9"},"res":{"statusCode":404},"msg":"done","latency":"1.2s"}',
      ['GET /a/*', 404, 1300],
    ],
    ['level=info method=GET path=/a/9?x=1 status=404 duration=1.5ms', ['GET /a/*', 404, 1.6]],
    ['at=info method=POST path="/a" connect=0ms service=12ms status=201', ['POST /a', 201, 13]],
    ['[06:00:14 INF] HTTP GET /a responded 404 in 12.1 ms', ['GET /a', 404, 12.2]],
    ['Sent 404 in 12ms', ['', 404, 13]],
    ['{"msg":"request completed","status":404}', ['', 404, undefined]],
  ])('%s', (line, request) => {
    expect(read(line)).toEqual(request)
  })

  it.each(['GET some sleep', 'order 404 placed in 12 ms', 'status=gone', 'took 12ms'])(
    'but not: %s',
    (line) => {
      expect(read(line)).toBeUndefined()
    },
  )
})

const hit = (status: number, seconds: string, path = '/orders/{n}') =>
  `${CLF} "GET ${path} HTTP/1.1" ${status} 153 "-" "curl/8" ${seconds}`
const USUAL = { text: hit(200, '0.020'), times: 600 }

describe('an access log', () => {
  const side = (refused: number, status = 404) =>
    logSide([USUAL, { text: hit(status, '0.020'), times: refused }])

  it('fails where one of twenty more requests is refused, needs a review where fewer are', () => {
    expect(judge(side(6), side(7)).report.verdict).toBe('Success')
    expect(judge(side(6), side(34)).report.verdict).toBe('Review')
    for (const status of [401, 403, 404, 429]) {
      const { report } = judge(side(6, status), side(60, status))
      expect(report).toMatchObject({ verdict: 'Fail', endsRun: false })
      expect(report.score).toBeLessThan(70)
      expect(report.reason).toContain(
        "9.1 % of the canary's requests are refused (status 400 to 499), 1.0 % of the baseline's",
      )
    }
  })

  it('needs a review where refusals have ended', () => {
    const early = Array.from({ length: 12 }, (_, inMinute) => ({
      text: hit(403, '0.020'),
      times: 15,
      inMinute,
    }))
    expect(judge(side(6), logSide([USUAL, ...early])).report.verdict).toBe('Review')
  })

  it('needs a review where one route of several is refused, or takes much longer', () => {
    const sides = (status: number, seconds: string) =>
      logSide([
        { ...USUAL, times: 9000 },
        { text: hit(status, seconds, '/cart'), times: 90 },
      ])
    const before = sides(200, '0.020')
    const refused = judge(before, sides(403, '0.020')).report
    expect(refused.verdict).toBe('Review')
    expect(refused.reason).toBe(
      "1.0 % of the canary's requests are refused (status 400 to 499), 0.0 % of the baseline's. Most of the refused requests are GET /cart. Check whether the canary still answers them",
    )
    const few = (status: number) =>
      logSide([
        { ...USUAL, times: 9000 },
        { text: hit(status, '0.020', '/cart'), times: 24 },
      ])
    expect(judge(few(200), few(403)).report).toMatchObject({
      verdict: 'Review',
      reason:
        "100 % of the canary's requests of GET /cart are refused (status 400 to 499), 0.0 % of the baseline's. Check whether the canary still answers them",
    })
    const slow = judge(before, sides(200, '0.125')).report
    expect(slow.verdict).toBe('Review')
    expect(slow.reason).toBe(
      "The canary's requests of GET /cart (1 % of all) take 6.0 times as long as the baseline's",
    )
  })

  it('fails where all requests take five times as long, needs a review where those of the last third do', () => {
    const slow = logSide([{ ...USUAL, text: hit(200, '0.104') }])
    expect(judge(logSide([USUAL]), slow).report).toMatchObject({
      verdict: 'Fail',
      reason: "The canary's requests take 5.0 times as long as the baseline's of the same routes",
    })
    const parts = Array.from({ length: 30 }, (_, inMinute) => ({
      text: hit(200, inMinute < 20 ? '0.020' : '0.104'),
      ...{ times: 20, inMinute },
    }))
    const { report } = judge(logSide([USUAL]), logSide(parts))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain('in the last third')
  })

  it('fails for no other unit of its times', () => {
    const other = logSide([{ ...USUAL, text: hit(200, '20.000') }])
    expect(judge(logSide([USUAL]), other).report.verdict).toBe('Review')
  })

  it('passes where only the mix of requests differs', () => {
    const mixed = (logins: number, reports: number) =>
      logSide([
        ...[USUAL, { text: hit(200, '0.020', '/login'), times: logins * 6 }],
        ...[{ text: hit(401, '0.020', '/login'), times: logins * 4 }],
        ...[{ text: hit(200, '2.020', '/reports'), times: reports }],
      ])
    expect(judge(mixed(5, 30), mixed(60, 300)).report.verdict).toBe('Success')
  })
})

describe('the same requests', () => {
  type Write = (status: number) => string
  const DIALECTS: Readonly<Record<string, Write>> = {
    nginx: (status) => hit(status, '0.020'),
    JSON: (status) =>
      JSON.stringify({ level: 'info', method: 'GET', path: '/orders/{n}', status, duration: 20 }),
    'JSON without a path': (status) => JSON.stringify({ level: 'info', msg: 'answered', status }),
    'JSON without a level': (status) => JSON.stringify({ method: 'GET', path: '/orders/{n}', status }),
    logfmt: (status) => `level=info msg=answered method=GET path=/orders/{n} status=${status} duration=20ms`,
    Serilog: (status) => `[06:00:14 INF] HTTP GET /orders/{n} responded ${status} in 20.0000 ms`,
    Gin: (status) => `[GIN] 2026/11/21 - 06:00:14 | ${status} |   20.1ms | 10.0.0.7 | GET      "/orders/{n}"`,
  }

  it.each(Object.entries(DIALECTS))('are judged the same as %s writes them', (_, write) => {
    const side = (refused: number, status = 404) =>
      logSide([
        { text: write(200), times: 900 },
        { text: write(status), times: refused },
      ])
    const verdict = (refused: number, status: number) =>
      judge(side(9, status), side(refused, status)).report.verdict
    expect([404, 403, 503].map((status) => verdict(9, status))).toEqual(['Success', 'Success', 'Success'])
    expect([404, 403].map((status) => verdict(40, status))).toEqual(['Review', 'Review'])
    expect([404, 403, 503].map((status) => verdict(120, status))).toEqual(['Fail', 'Fail', 'Fail'])
  })

  it('are not counted where it complains about other servers', () => {
    const called = (times: number) =>
      logSide([
        { text: 'INFO order {n} placed', times: 900 },
        { text: 'ERROR call {n} failed status=404', times },
      ])
    const { report } = judge(called(0), called(60))
    expect(report.reason).toMatch(/^"call <\*> failed status=<\*>": New/)
  })
})
