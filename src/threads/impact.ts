import { parentPort, workerData } from 'node:worker_threads'

import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import { toFailure } from '../lib/threads/failure.js'
import { compareRevisions } from '../main/impact/compare-revisions.js'
import type { ImpactMessage, ImpactThreadOptions } from '../main/threads/impact-thread.js'

const NICENESS = 10

// Entry point of the thread that evaluates stored inputs with two revisions.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  const send = (message: ImpactMessage): void => port.postMessage(message)
  try {
    const result = await compareRevisions(workerData as ImpactThreadOptions, (progress) =>
      send({ type: 'progress', progress }),
    )
    send({ type: 'done', result })
  } catch (raw) {
    send({ type: 'failed', failure: toFailure(raw) })
  }
}
