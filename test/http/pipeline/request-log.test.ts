import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { RequestLog } from '../../../src/http/pipeline/request-log.js'
import type { Logger } from '../../../src/lib/logger.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const lines: object[] = []
const note = (fields: object, message: string): void => void lines.push({ ...fields, message })
const logger = { isLevelEnabled: () => true, info: note, error: note, debug: note } as unknown as Logger
beforeEach(() => void lines.splice(0))

test.each(['/analysis/report/7/the-token', '/analysis/report/7/the-token/shop'])(
  'the line for %s does not have the token of the link',
  (url) => {
    new RequestLog(logger).note(new FakeExchange({ method: 'GET', url }))
    expect(JSON.stringify(lines)).toContain('/analysis/report/7/[redacted]')
    expect(JSON.stringify(lines)).not.toContain('the-token')
  },
)

describe('requests that are refused because there are too many', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const failed = (error: AppError): FakeExchange => {
    const exchange = new FakeExchange({ method: 'POST', url: '/v1/data/app' })
    exchange.failure = error
    exchange.status = 503
    return exchange
  }
  const refused = (why: string): FakeExchange =>
    failed(new AppError('unavailable', `${why}: come back later`, { code: 'one', retryAfterSeconds: 1 }))

  it('get one line, and one for how many followed in ten seconds, as long as some do', () => {
    const log = new RequestLog(logger)
    for (let count = 0; count < 1000; count += 1) log.note(refused('a'))
    log.note(refused('b'))
    expect(lines).toMatchObject([
      { status: 503, code: 'one', error: 'a: come back later', path: '/v1/data/app', message: 'request' },
      { status: 503, code: 'one', error: 'b: come back later', path: '/v1/data/app', message: 'request' },
    ])
    vi.advanceTimersByTime(10_000)
    expect(lines.slice(2)).toMatchObject([
      {
        status: 503,
        code: 'one',
        error: 'a: come back later',
        refused: 999,
        message: 'further requests refused',
      },
    ])
    log.note(refused('a'))
    log.note(refused('b'))
    expect(lines.slice(3)).toMatchObject([{ error: 'b: come back later', message: 'request' }])
    log.close()
    expect(lines.slice(4)).toMatchObject([{ error: 'a: come back later', refused: 1 }])
  })

  it('are told of in full again after ten seconds without any', () => {
    const log = new RequestLog(logger)
    log.note(refused('a'))
    vi.advanceTimersByTime(10_000)
    log.note(refused('a'))
    expect(lines).toMatchObject([{ message: 'request' }, { message: 'request' }])
    log.close()
  })

  it('are no reason to keep quiet about other errors', () => {
    const log = new RequestLog(logger)
    for (let count = 0; count < 3; count += 1) {
      log.note(failed(new AppError('unavailable', 'the database is away')))
      log.note(failed(new AppError('evaluation_failed', 'no')))
    }
    expect(lines).toHaveLength(6)
  })
})
