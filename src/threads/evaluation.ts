import { parentPort } from 'node:worker_threads'

import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import { hostBuiltins, serveQuestions } from '../rego/index.js'

const NICENESS = 3

// Entry point of a slow thread, for evaluations that exceed their slice on the deciding thread.
if (parentPort !== null) {
  // Decisions on the same core take precedence.
  lowerThreadPriority(NICENESS)
  serveQuestions(parentPort, hostBuiltins)
}
