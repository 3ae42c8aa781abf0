import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'

import { compareList } from '../events/registry/compare-list.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { ComparisonMessage, ComparisonThreadOptions } from '../main/threads/comparison-thread.js'
import { toFailure } from '../lib/threads/failure.js'
import { registryReads } from '../events/registry/registry-operations.js'
import { operationRegistry } from '../store/ports/operation.js'
import type { Readers } from '../store/ports/readers.js'
import { openReader } from '../main/store/open-reader.js'

const NICENESS = 10

// Entry point of the thread that compares a list of the storage service with the registry, which
// keeps a core busy for seconds.
if (parentPort !== null) {
  const port = parentPort
  const { store, list } = workerData as ComparisonThreadOptions
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  const send = (message: ComparisonMessage): void => port.postMessage(message)
  // The listener keeps the thread alive while it waits.
  const take = async (changes: string): Promise<void> => {
    const acknowledged = once(port, 'message')
    send({ type: 'changes', changes })
    await acknowledged
  }
  try {
    const { reader, close } = await openReader(store, operationRegistry<Readers>(registryReads))
    const listed = await compareList(list, reader, take)
    await close()
    send({ type: 'compared', listed })
  } catch (raw) {
    send({ type: 'failed', failure: toFailure(raw) })
  }
}
