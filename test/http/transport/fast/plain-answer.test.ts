import { afterEach, expect, test, vi } from 'vitest'

import { plainAnswerHead } from '../../../../src/http/transport/fast/plain-answer.js'

const ANSWER = { status: 200, body: '', contentType: 'application/json', requestId: 'r-1', extraHeaders: [] }

afterEach(() => {
  vi.useRealTimers()
})

test('the head of an answer has what a node server writes, in its order', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12, 0, 0, 999) })
  const head = plainAnswerHead({ ...ANSWER, extraHeaders: ['Vary', 'Accept', 'X-A', 'b'] }, 17, 75_500)
  expect(head.split('\r\n')).toEqual([
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    'Content-Length: 17',
    'X-Request-Id: r-1',
    'Vary: Accept',
    'X-A: b',
    'Date: Sun, 22 Nov 2026 12:00:00 GMT',
    'Connection: keep-alive',
    'Keep-Alive: timeout=75',
    '',
    '',
  ])
})

test('its date goes on with the clock', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12, 0, 0, 999) })
  plainAnswerHead(ANSWER, 0, 0)
  vi.advanceTimersByTime(1)
  expect(plainAnswerHead(ANSWER, 0, 0)).toContain('Date: Sun, 22 Nov 2026 12:00:01 GMT\r\n')
})

test('the last one of a connection says so', () => {
  expect(plainAnswerHead({ ...ANSWER, status: 503 }, 0, 0)).toMatch(
    /^HTTP\/1\.1 503 Service Unavailable\r\n.*\r\nConnection: close\r\n\r\n$/s,
  )
})
