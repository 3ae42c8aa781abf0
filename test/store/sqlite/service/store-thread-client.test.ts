import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { StoreThreadClient } from '../../../../src/store/sqlite/service/store-thread-client.js'

/** Answers each batch with the number of its thread. */
const THREAD = `
  const { parentPort, threadId } = require('node:worker_threads')
  parentPort.on('message', ({ type }) => {
    if (type === 'close') parentPort.close()
    else parentPort.postMessage({ type: 'outcomes', outcomes: [{ ok: true, result: threadId }] })
  })`

const clients: StoreThreadClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

function makeClient(idleMs?: number): { client: StoreThreadClient; threads: Worker[] } {
  const threads: Worker[] = []
  const start = (): Worker => {
    const thread = new Worker(THREAD, { eval: true })
    threads.push(thread)
    return thread
  }
  const client = new StoreThreadClient(start, idleMs)
  clients.push(client)
  return { client, threads }
}

function exitOf(thread: Worker | undefined): Promise<unknown> {
  return new Promise((resolve) => thread?.once('exit', resolve))
}

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

  it('is not waited for by a batch that comes while it ends', async () => {
    const { client, threads } = makeClient(60_000)
    await client.execute([])
    const closed = client.close()
    const next = client.execute([])
    await closed
    expect(await next).toHaveLength(1)
    expect(threads).toHaveLength(2)
  })
})
