import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { AppError } from '../errors/app-error.js'
import { makeRemovalTime } from '../lib/clocks/removal-time.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import { connectDecisionWriter } from '../store/sqlite/decisions/decision-writer.js'
import { keepDecisions } from '../decisions/keep-decisions.js'
import type { WriterAnswer, WriterRequest, WriterThreadOptions } from '../decisions/writer-messages.js'
import { InProcessBatchWriter } from '../decisions/in-process-batch-writer.js'
import { watchMainThread } from '../main/threads/main-thread-watch.js'
import { toStoreError } from '../store/sqlite/engine/sqlite-error.js'

/**
 * Lower priority than the deciding thread, so that on a busy core the log is delayed before a
 * decision is. High enough for two fifths of a saturated core, which writing decisions of a few
 * kilobytes takes.
 */
const NICENESS = 2

if (parentPort !== null) {
  lowerThreadPriority(NICENESS)
  watchMainThread()
  serveBatches(parentPort, workerData as WriterThreadOptions)
}

function serveBatches(port: MessagePort, options: WriterThreadOptions): void {
  const answer = (message: WriterAnswer, transferred: ArrayBuffer[] = []) => {
    port.postMessage(message, transferred)
  }
  const writer = openWriter(options, (raw) =>
    answer(failure('refused', toStoreError('open decision log', raw))),
  )
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

function openWriter(
  options: WriterThreadOptions,
  refuse: (raw: unknown) => void,
): InProcessBatchWriter | undefined {
  const { path, retention, retentionIntervalMs, receivers } = options
  try {
    return new InProcessBatchWriter({
      store: keepDecisions(connectDecisionWriter(path, retention.maxBytes, receivers), options),
      retention,
      retentionIntervalMs,
      removalTime: makeRemovalTime(),
    })
  } catch (raw) {
    refuse(raw)
    return undefined
  }
}

function failure(type: 'refused' | 'lost', { kind, code, message }: AppError): WriterAnswer {
  return { type, kind, code, message }
}
