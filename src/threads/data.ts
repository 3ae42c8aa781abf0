import { parentPort } from 'node:worker_threads'

import { toFailure } from '../lib/threads/failure.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { DataOutcome, DataRequest } from '../main/threads/data-thread.js'
import { loadData } from '../rego/index.js'

const NICENESS = 5

// Entry point of the thread that builds base documents from data files.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  port.once('message', ({ parts, base }: DataRequest) => port.postMessage(outcomeOf(parts, base)))
}

function outcomeOf(parts: DataRequest['parts'], base: number): DataOutcome {
  try {
    return { ok: true, loaded: loadData(parts, base) }
  } catch (raw) {
    return { ok: false, failure: toFailure(raw) }
  }
}
