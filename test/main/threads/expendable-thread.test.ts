import { afterEach, describe, expect, it } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { ExpendableThread } from '../../../src/main/threads/expendable-thread.js'
import type { ExpendableThreadOptions } from '../../../src/main/threads/expendable-thread.js'

const SCRIPT = `import { parentPort, threadId } from 'node:worker_threads'
parentPort.on('message', (request) => {
  if (request === 'hang') for (;;);
  const all = []
  if (request === 'hoard') return setInterval(() => { for (let n = 0; n < 100; n += 1) all.push(new Array(1000).fill({})) })
  if (request === 'throw') throw new Error('broken')
  if (request === 'exit') process.exit(3)
  parentPort.postMessage([request, threadId])
})`

let thread: ExpendableThread<string, [string, number]> | undefined

function start(more: Partial<ExpendableThreadOptions> = {}): ExpendableThread<string, [string, number]> {
  thread = new ExpendableThread({
    script: new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
    resourceLimits: { maxOldGenerationSizeMb: 16 },
    limitMs: 10_000,
    idleMs: 10_000,
    maxWaiting: 4,
    overrun: () => new AppError('too_large', 'it takes too much'),
    crowded: () => new AppError('unavailable', 'too many are waiting'),
    ...more,
  })
  return thread
}

afterEach(async () => {
  await thread?.close()
})

describe('a thread for work that may never end', () => {
  it('answers one request after the other', async () => {
    const asked = start()
    const answers = await Promise.all(['a', 'b', 'c'].map((request) => asked.run(request)))
    expect(answers.map(([request]) => request)).toEqual(['a', 'b', 'c'])
    expect(new Set(answers.map(([, id]) => id)).size).toBe(1)
  })

  it.each([
    ['does not end', 'hang', { limitMs: 300 }],
    ['outgrows its memory', 'hoard', {}],
    ['raises', 'throw', {}],
    ['ends its thread', 'exit', {}],
  ])('is lost with a request that %s, and another one answers the next', async (_, request, more) => {
    const asked = start(more)
    const lost = asked.run(request)
    const next = asked.run('next')
    await expect(lost).rejects.toMatchObject({ kind: 'too_large', message: 'it takes too much' })
    // A busy machine may be slow to start a thread. The test only requires that the next request is
    // answered.
    await next.catch(() => undefined)
    const deadline = Date.now() + 10_000
    let answer: [string, number] | undefined
    while (answer === undefined && Date.now() < deadline)
      answer = await asked.run('more').catch(() => undefined)
    expect(answer?.[0]).toBe('more')
  })

  it('refuses a request when too many are waiting', async () => {
    const asked = start({ maxWaiting: 1 })
    const answers = await Promise.allSettled(['a', 'b', 'c', 'd'].map((request) => asked.run(request)))
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  })

  it('ends when it has had nothing to do, and starts again', async () => {
    const asked = start({ idleMs: 1 })
    const [, first] = await asked.run('a')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await asked.run('b'))[1]).not.toBe(first)
  })

  it('refuses waiting requests when it is closed', async () => {
    const asked = start()
    const answers = Promise.allSettled(['hang', 'b'].map((request) => asked.run(request)))
    await asked.close()
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(asked.run('c')).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
