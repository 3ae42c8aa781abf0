import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

import { useUsualFlags } from './v8-flags.js'

/**
 * Starts a thread. Until it runs, V8's flags are as usual: only then does it take the code of Node.js's own modules that is there already, and a thread takes two
 * thirds of the CPU to start. For longer, the threads that are there would optimize what hardly runs.
 */
export function startThread(script: URL, options: WorkerOptions): Worker {
  const release = useUsualFlags()
  const thread = new Worker(script, options)
  thread.once('online', release)
  thread.once('exit', release)
  return thread
}
