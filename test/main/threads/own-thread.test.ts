import { describe, expect, it } from 'vitest'

import { workInOwnThread } from '../../../src/main/threads/own-thread.js'
import type { OwnThread } from '../../../src/main/threads/own-thread.js'

const LISTEN = `import { parentPort } from 'node:worker_threads'; parentPort.once('message', (value) => `
const ECHO = `${LISTEN} parentPort.postMessage(value))`
const WAIT = 'setInterval(() => undefined, 1000)'
// A thread that takes memory faster than V8 can end it ends the process.
const HOARD =
  'const all = []; setInterval(() => { for (let n = 0; n < 100; n += 1) all.push(new Array(1000).fill({})) })'

function work(script: string, more: Partial<OwnThread> = {}): Promise<unknown> {
  const thread: OwnThread = {
    script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
    options: { resourceLimits: { maxOldGenerationSizeMb: 16 } },
    outgrown: 'it is too large',
    abandoned: 'it was given up',
    givenUp: undefined,
    ...more,
  }
  return workInOwnThread<unknown>(thread, (worker, { done, failed }) => {
    worker.on('message', (answer: unknown) => {
      if (answer === 'bad') failed(new Error('a bad answer'))
      else done(answer)
    })
    worker.postMessage('hello')
  })
}

describe('work in a thread of its own', () => {
  it('returns the result of the task', async () => {
    expect(await work(ECHO)).toBe('hello')
  })

  it('fails as the conversation failed', async () => {
    await expect(work(`${LISTEN} parentPort.postMessage('bad'))`)).rejects.toThrow('a bad answer')
  })

  it.each([
    ['throws', "throw new Error('broken')", {}, 'broken'],
    ['ends without an answer', '', {}, 'its thread ended unexpectedly'],
    ['needs too much memory', HOARD, {}, 'it is too large'],
    ['takes too long', WAIT, { limitMs: 1 }, 'it took longer than 0.001 seconds'],
    ['was given up before', WAIT, { givenUp: AbortSignal.abort() }, 'it was given up'],
  ])('is unavailable when the thread %s', async (_, script, more, message) => {
    await expect(work(script, more)).rejects.toMatchObject({ kind: 'unavailable', message })
  })

  it('is unavailable when it is given up', async () => {
    const giveUp = new AbortController()
    const working = work(WAIT, { givenUp: giveUp.signal })
    giveUp.abort()
    await expect(working).rejects.toMatchObject({ kind: 'unavailable', message: 'it was given up' })
  })
})
