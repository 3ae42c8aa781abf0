import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

import { useUsualFlags } from './v8-flags.js'

/** By then it has loaded what it needs. */
const LOADED_MS = 500

/**
 * Starts a thread. Until it says something, or has run for half a second, V8's flags are as usual: only then does it take the code of Node.js's own modules that is
 * there already, and a thread takes half of the CPU to start.
 */
export function startThread(script: URL, options: WorkerOptions): Worker {
  const release = useUsualFlags()
  const thread = new Worker(script, options)
  thread.once('message', release)
  thread.once('exit', release)
  thread.once('online', () => setTimeout(release, LOADED_MS).unref())
  return thread
}
