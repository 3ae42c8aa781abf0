import { expect, test } from 'vitest'

import { makeLogger } from '../../src/lib/logger.js'
import { closeParts } from '../../src/main/close-parts.js'

test('closes every part in reverse order despite failures, and returns the failed ones', async () => {
  const closed: string[] = []
  const lines: string[] = []
  const logger = makeLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) })
  const part = (name: string, fail?: () => Promise<void>): Parameters<typeof closeParts>[0][number] => ({
    name,
    close: () => {
      closed.push(name)
      return fail?.() ?? Promise.resolve()
    },
  })
  const raise = (): never => {
    throw new Error('at once')
  }
  const opened = [
    part('store'),
    part('outbox', () => Promise.reject(new Error('later'))),
    part('gates', raise),
    part('server'),
  ]
  expect(await closeParts(opened, logger)).toEqual(['gates', 'outbox'])
  expect(closed).toEqual(['server', 'gates', 'outbox', 'store'])
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'error', part: 'gates', error: 'at once' },
    { level: 'error', part: 'outbox', error: 'later' },
  ])
})
