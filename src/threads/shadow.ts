import { parentPort, workerData } from 'node:worker_threads'

import { toFailure } from '../lib/threads/failure.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import { runShadow } from '../main/impact/run-shadow.js'
import type { ShadowMessage, ShadowThreadOptions } from '../main/threads/shadow-thread.js'

const NICENESS = 10

// Entry point of the thread that evaluates decisions again with the shadow.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  const send = (message: ShadowMessage): void => port.postMessage(message)
  try {
    await runShadow(workerData as ShadowThreadOptions, (progress) => send({ type: 'progress', progress }))
  } catch (raw) {
    send({ type: 'failed', failure: toFailure(raw) })
  }
}
