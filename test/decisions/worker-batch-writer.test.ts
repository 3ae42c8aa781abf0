import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { DecisionBatch } from '../../src/decisions/decision-batch.js'
import { WorkerBatchWriter } from '../../src/decisions/worker-batch-writer.js'
import { aBatch, anEntry } from '../support/decisions.js'

/** Replaces the compiled thread and follows the instructions in the decision ids of a batch. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
if (workerData === 'refuse') {
  parentPort.postMessage({ type: 'refused', kind: 'unavailable', message: 'the file is damaged' })
} else {
  parentPort.on('message', ({ type, batch }) => {
    if (type === 'close') return parentPort.close()
    if (batch.texts[0] === 'die') process.exit(1)
    if (batch.texts[0] === 'throw') throw new Error('out of luck')
    if (batch.texts[0] === 'lose') return parentPort.postMessage({ type: 'lost', kind: 'unavailable', message: 'no space' })
    const receipt = { maskFailed: batch.rowCount, spentMemory: batch.bytes }
    parentPort.postMessage({ type: 'written', receipt }, [batch.bytes.buffer])
  })
  parentPort.postMessage({ type: 'ready' })
}`

const batchOf = (...ids: string[]): DecisionBatch =>
  aBatch(ids.map((decisionId) => anEntry({ decisionId, input: Buffer.from('{}') })))

async function open(behaviour = 'serve') {
  const start = vi.fn(() => new Worker(THREAD, { eval: true, workerData: behaviour }))
  const writer = new WorkerBatchWriter({ name: 'the writing thread', start })
  onTestFinished(() => writer.close())
  await writer.opened()
  return { writer, start }
}

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

describe('writing in another thread', () => {
  it('answers each batch in order and gives its memory back', async () => {
    const { writer } = await open()
    const receipts = await Promise.all([writer.write(batchOf('a')), writer.write(batchOf('b', 'c'))])
    expect(receipts.map(({ maskFailed }) => maskFailed)).toEqual([1, 2])
    expect(receipts[0].spentMemory).toHaveLength(1 << 20)
  })

  it('takes the memory of a batch instead of copying it', async () => {
    const { writer } = await open()
    const batch = batchOf('a')
    const written = writer.write(batch)
    expect(batch.bytes).toHaveLength(0)
    await written
  })

  it('says why the database was refused', async () => {
    await expect(open('refuse')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the file is damaged',
    })
  })

  it('loses a batch that could not be written and continues', async () => {
    const { writer } = await open()
    await expect(writer.write(batchOf('lose'))).rejects.toMatchObject({ message: 'no space' })
    expect(await writer.write(batchOf('a'))).toMatchObject({ maskFailed: 1 })
  })

  it.each(['die', 'throw'])(
    'loses what the thread held when it ends by "%s", and starts another',
    async (end) => {
      const { writer, start } = await open()
      const lost = await Promise.allSettled([writer.write(batchOf(end)), writer.write(batchOf('a'))])
      expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(await writer.write(batchOf('b'))).toMatchObject({ maskFailed: 1 })
      expect(start).toHaveBeenCalledTimes(2)
    },
  )

  it('starts no other at once when it died twice, but after a pause', async () => {
    const { writer, start } = await open()
    await expect(writer.write(batchOf('die'))).rejects.toThrow('has stopped')
    await expect(writer.write(batchOf('die'))).rejects.toThrow('has stopped')
    await expect(writer.write(batchOf('a'))).rejects.toThrow('is restarted shortly')
    expect(start).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(1000)
    expect(await writer.write(batchOf('b'))).toMatchObject({ maskFailed: 1 })
    expect(start).toHaveBeenCalledTimes(3)
  })

  it('writes what was handed over before it closes', async () => {
    const { writer } = await open()
    const written = writer.write(batchOf('a'))
    await writer.close()
    expect(await written).toMatchObject({ maskFailed: 1 })
    await expect(writer.write(batchOf('b'))).rejects.toThrow('the writing thread has stopped')
    await writer.close()
  })
})
