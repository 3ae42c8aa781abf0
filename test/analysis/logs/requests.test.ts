import { describe, expect, it } from 'vitest'

import { readRequest } from '../../../src/analysis/logs/requests/read-request.js'
import { describeLine } from '../../../src/analysis/logs/records/describe-record.js'
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
  ])('%s', (line, told) => {
    expect(read(line)).toEqual(told)
  })

  it.each(['GET some sleep', 'order 404 placed in 12 ms', 'status=404', 'took 12ms'])(
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
  it('asks people where ten times as many requests are refused', () => {
    const side = (refused: number) => logSide([USUAL, { text: hit(404, '0.020'), times: refused }])
    expect(judge(side(6), side(7)).report.verdict).toBe('Success')
    const { report } = judge(side(6), side(60))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain(
      "9.1 % of the canary's requests are refused (status 400 to 499), 1.0 % of the baseline's",
    )
  })

  it('asks people where requests take five times as long, be it in the last third', () => {
    const slow = logSide([{ ...USUAL, text: hit(200, '0.104') }])
    expect(judge(logSide([USUAL]), slow).report.reason).toBe(
      "the canary's requests take 5.0 times as long as the baseline's of the same routes",
    )
    const parts = Array.from({ length: 30 }, (_, inMinute) => ({
      text: hit(200, inMinute < 20 ? '0.020' : '0.104'),
      ...{ times: 20, inMinute },
    }))
    const { report } = judge(logSide([USUAL]), logSide(parts))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain('in the last third')
  })

  it('asks nobody where only the mix of requests is another', () => {
    const side = (logins: number, reports: number) =>
      logSide([
        ...[USUAL, { text: hit(200, '0.020', '/login'), times: logins * 6 }],
        ...[{ text: hit(401, '0.020', '/login'), times: logins * 4 }],
        ...[{ text: hit(200, '2.020', '/reports'), times: reports }],
      ])
    expect(judge(side(5, 30), side(60, 300)).report.verdict).toBe('Success')
  })
})
