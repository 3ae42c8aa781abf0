import { parentPort } from 'node:worker_threads'

import { toFailure } from '../lib/threads/failure.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { ModuleOutcome } from '../main/threads/module-thread.js'
import { compileModule } from '../rego/index.js'

const NICENESS = 5

// Entry point of the thread that compiles a module.
if (parentPort !== null) {
  const port = parentPort
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  port.once('message', (wasm: Uint8Array) => {
    void outcomeOf(wasm).then((outcome) => port.postMessage(outcome))
  })
}

async function outcomeOf(wasm: Uint8Array): Promise<ModuleOutcome> {
  try {
    return { ok: true, code: await compileModule(wasm) }
  } catch (raw) {
    return { ok: false, failure: toFailure(raw) }
  }
}
