import { parentPort, workerData } from 'node:worker_threads'
import type { StoreThreadOptions } from '../store/sqlite/threads/messages.js'
import { serveReads, serveWrites } from '../store/sqlite/threads/serve-store.js'

// The composition root of a thread of the store, as main/start-service.ts is that of the process. Each loads only the operations that it
// runs: the thread that writes never draws a report.
if (parentPort !== null) {
  const options = workerData as StoreThreadOptions
  if (options.role === 'write') {
    serveWrites(parentPort, options, (await import('./write-operations.js')).writeOperations)
  } else {
    serveReads(parentPort, options, (await import('./read-operations.js')).readOperations)
  }
}
