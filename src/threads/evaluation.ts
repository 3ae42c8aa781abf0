import { parentPort } from 'node:worker_threads'

import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import { hostBuiltins, serveQuestions } from '../rego/index.js'

const NICENESS = 3

// The composition root of a slow thread: it evaluates what did not end within its slice on the thread that decides.
if (parentPort !== null) {
  // Decisions on the same core go first.
  lowerThreadPriority(NICENESS)
  serveQuestions(parentPort, hostBuiltins)
}
