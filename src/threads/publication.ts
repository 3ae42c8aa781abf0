import { parentPort } from 'node:worker_threads'

import { toFailure } from '../lib/threads/failure.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { LoadOutcome } from '../main/threads/load-threads.js'
import { packPublication, type PackedPublication, type PublishRequest } from '../rego/index.js'

const NICENESS = 5

// Entry point of the thread that packs and signs the published bundle.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  port.once('message', (request: PublishRequest) => {
    void outcomeOf(request).then((outcome) => port.postMessage(outcome))
  })
}

async function outcomeOf(request: PublishRequest): Promise<LoadOutcome<PackedPublication>> {
  try {
    return { ok: true, loaded: await packPublication(request) }
  } catch (raw) {
    return { ok: false, failure: toFailure(raw) }
  }
}
