import { Worker } from 'node:worker_threads'

import { hasErrorCode } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { givenAway, type FromSlowThread, type SlowThread, type SlowThreadEvents } from '../../rego/index.js'

const SCRIPT = threadScript('evaluation')
/** Beside the memory of the policy module, which has a limit of its own. */
const HEAP_MB = 512
/** V8's default on the thread that decides, so that what is nested too deeply for one is for the other. */
const STACK_MB = 1

/** Starts a thread that evaluates what takes long. It does not keep the process alive. */
export function startSlowThread({ heard, ended }: SlowThreadEvents): SlowThread {
  const worker = new Worker(SCRIPT, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
  })
  let isKilled = false
  let cause: Error | undefined
  worker.unref()
  worker.on('message', (message: FromSlowThread) => {
    if (!isKilled) heard(message)
  })
  worker.on('error', (error: Error) => (cause = error))
  worker.on('exit', () => {
    if (!isKilled) ended({ isOutOfMemory: hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY'), cause })
  })
  return {
    send: (message) => worker.postMessage(message, givenAway(message)),
    kill: () => {
      isKilled = true
      void worker.terminate()
    },
  }
}
