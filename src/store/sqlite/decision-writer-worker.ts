import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { AppError } from '../../errors.js'
import { openDecisionWriter } from './decision-writer.js'
import type { WriterAnswer, WriterRequest, WriterThreadOptions } from './decision-writer-messages.js'
import { InProcessBatchWriter } from './in-process-batch-writer.js'
import { toStoreError } from './sqlite-error.js'

/** Below the thread that decides: on a busy core the log is late, or drops, before a decision is. */
const NICENESS = 10

if (parentPort !== null) {
  yieldToDecisions()
  await serveBatches(parentPort, workerData as WriterThreadOptions)
}

function yieldToDecisions(): void {
  // Linux keeps a priority per thread, where 0 means the calling one; elsewhere it would slow the whole process.
  if (process.platform === 'linux') setPriority(0, NICENESS)
}

async function serveBatches(port: MessagePort, options: WriterThreadOptions): Promise<void> {
  const answer = (message: WriterAnswer, transferred: ArrayBuffer[] = []) => {
    port.postMessage(message, transferred)
  }
  const writer = await openWriter(options).catch((raw: unknown) => {
    answer(failure('refused', toStoreError('open decision log', raw)))
  })
  if (writer === undefined) return
  port.on('message', (request: WriterRequest) => {
    if (request.type === 'write') {
      const { bytes } = request.batch
      writer.write(request.batch).then(
        (receipt) => answer({ type: 'written', receipt: { ...receipt, spentMemory: bytes } }, [bytes.buffer]),
        (raw: unknown) => answer(failure('lost', toStoreError('write decisions', raw))),
      )
    } else {
      void writer.close().finally(() => port.close())
    }
  })
  answer({ type: 'ready' })
}

async function openWriter(options: WriterThreadOptions): Promise<InProcessBatchWriter> {
  const { retention, retentionIntervalMs } = options
  const store = await openDecisionWriter(options)
  return new InProcessBatchWriter({ store, retention, retentionIntervalMs, now: Date.now })
}

function failure(type: 'refused' | 'lost', { kind, message }: AppError): WriterAnswer {
  return { type, kind, message }
}
