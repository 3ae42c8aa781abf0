import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'

import { exitOnFatalError } from '../../src/main/process-events.js'

/** A process that notes with which code it was ended. */
class FakeProcess extends EventEmitter {
  readonly ended: Promise<number>
  exit: (code: number) => void = () => undefined

  constructor() {
    super()
    this.ended = new Promise((resolve) => (this.exit = resolve))
  }
}

function logOf(lines: object[]): { fatal: (fields: object) => void } {
  return { fatal: (fields) => void lines.push(fields) }
}

test('an unhandled error is logged, decisions are flushed, and the process exits with 1', async () => {
  const source = new FakeProcess()
  const lines: object[] = []
  let flushed = 0
  exitOnFatalError(
    logOf(lines),
    () => {
      flushed += 1
      return Promise.resolve()
    },
    source,
  )
  source.emit('uncaughtException', new Error('first'), 'unhandledRejection')
  source.emit('uncaughtException', new Error('second'), 'uncaughtException')
  expect(await source.ended).toBe(1)
  expect(flushed).toBe(1)
  expect(lines).toEqual([
    { error: 'first', origin: 'unhandledRejection', stack: expect.stringContaining('first') as string },
  ])
})

test('a process whose log cannot be flushed ends all the same', async () => {
  const source = new FakeProcess()
  exitOnFatalError(logOf([]), () => Promise.reject(new Error('the disk is full')), source)
  source.emit('uncaughtException', 'no error at all', 'uncaughtException')
  expect(await source.ended).toBe(1)
})
