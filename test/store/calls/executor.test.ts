import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../../../src/store/calls/call.js'
import { ThreadExecutor } from '../../../src/store/calls/executor.js'
import { PATIENT } from '../../support/wait-until.js'

/**
 * Answers each batch with the number of its thread. It outgrows its memory in small steps: a thread
 * that takes memory faster than V8 can end it ends the process.
 */
const THREAD = `
  const { parentPort, threadId } = require('node:worker_threads')
  const kept = []
  parentPort.on('message', ({ type, calls }) => {
    if (type === 'close') parentPort.close()
    else if (calls[0]?.operation === 'die') process.exit(1)
    else if (calls[0]?.operation === 'refuse') parentPort.postMessage({ type: 'refused', failure: { kind: 'unavailable', code: 'c', message: 'no', details: [] } })
    else if (calls[0]?.operation === 'outgrow') setInterval(() => { for (let n = 0; n < 100; n += 1) kept.push(new Array(1000).fill({})) })
    else parentPort.postMessage({ type: 'outcomes', outcomes: [{ ok: true, result: threadId }] })
  })`

const clients: ThreadExecutor[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

function makeClient(idleMs?: number) {
  const clock = { nowMs: 0 }
  const threads: Worker[] = []
  const start = (): Worker => {
    const thread = new Worker(THREAD, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 24 } })
    threads.push(thread)
    return thread
  }
  const client = new ThreadExecutor({ name: 'the thread', start, idleMs, now: () => clock.nowMs })
  clients.push(client)
  return { client, threads, clock }
}

function exitOf(thread: Worker | undefined): Promise<unknown> {
  if (thread?.threadId === -1) return Promise.resolve()
  return new Promise((resolve) => thread?.once('exit', resolve))
}

const calling = (operation: string): Call[] => [{ operation, args: null }]

describe('a thread of the store', () => {
  it('is started by the first batch and runs those that follow', async () => {
    const { client, threads } = makeClient()
    expect(threads).toHaveLength(0)
    const first = await client.execute([])
    expect(await client.execute([])).toEqual(first)
    expect(threads).toHaveLength(1)
  })

  it('ends when it has had nothing to do, and the next batch starts another', async () => {
    const { client, threads } = makeClient(1)
    const first = await client.execute([])
    await exitOf(threads[0])
    expect(await client.execute([])).not.toEqual(first)
    expect(threads).toHaveLength(2)
  })

  it('has ended once the store is closed, whether it was idle or not', async () => {
    const { client, threads } = makeClient(1)
    await client.execute([])
    await vi.waitFor(() => expect(threads[0]?.threadId).toBe(-1), PATIENT)
    await client.execute([])
    await client.close()
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1])
  })

  it('is used no more when it has refused a batch, though it may still be there', async () => {
    const { client, threads } = makeClient()
    await expect(client.execute(calling('refuse'))).rejects.toThrow('no')
    await client.execute([])
    expect(threads).toHaveLength(2)
    await threads[0]?.terminate()
    expect(client.problem).toBeUndefined()
  })

  it('is listened to for one batch at a time', async () => {
    const { client, threads } = makeClient()
    await client.execute([])
    const before = threads[0]?.listenerCount('message')
    for (let batch = 0; batch < 3; batch += 1) await client.execute([])
    expect(threads[0]?.listenerCount('message')).toBe(before)
  })

  it('is not waited for by a batch that comes while it ends', async () => {
    const { client, threads } = makeClient(60_000)
    await client.execute([])
    const closed = client.close()
    const next = client.execute([])
    await closed
    expect(await next).toHaveLength(1)
    expect(threads).toHaveLength(2)
  })

  it.each(['die', 'outgrow'])(
    'fails what it was doing when it ends by "%s", and the next batch has another thread',
    async (operation) => {
      const { client, threads } = makeClient()
      await expect(client.execute(calling(operation))).rejects.toMatchObject({ kind: 'unavailable' })
      await exitOf(threads[0])
      expect(await client.execute(calling('go on'))).toHaveLength(1)
      expect(threads).toHaveLength(2)
    },
  )

  it('is no problem when it died once or twice, and is one when it dies again and again', async () => {
    const { client, threads, clock } = makeClient()
    for (const deaths of [1, 2, 3]) {
      clock.nowMs += 60_000
      await expect(client.execute(calling('die'))).rejects.toMatchObject({ kind: 'unavailable' })
      await exitOf(threads[deaths - 1])
      if (deaths < 3) expect(client.problem).toBeUndefined()
    }
    expect(client.problem).toMatch(/^the thread has ended 3 times within five minutes/)
    await expect(client.execute(calling('go on'))).rejects.toThrow('is restarted shortly')
    expect(threads).toHaveLength(3)
    clock.nowMs += 5000
    expect(await client.execute(calling('go on'))).toHaveLength(1)
    clock.nowMs += 300_000
    expect(client.problem).toBeUndefined()
  })
})
