import { parentPort, workerData } from 'node:worker_threads'
import { watchMainThread } from '../main/threads/main-thread-watch.js'
import type { PostgresThreadOptions } from '../store/postgres/threads/serve-store.js'
import type { StoreThreadOptions } from '../store/sqlite/threads/serve-store.js'

// Entry point of a thread of the store. It loads only its engine and its operations: the writing
// thread never draws a report.
if (parentPort !== null) {
  const options = workerData as StoreThreadOptions | PostgresThreadOptions
  const { role } = options
  if (role === 'write') watchMainThread()
  if ('engine' in options) {
    const { serveReads, serveWrites } = await import('../store/postgres/threads/serve-store.js')
    if (role === 'write') serveWrites(parentPort, options, await writeOperations())
    else serveReads(parentPort, options, await readOperations())
  } else {
    const { serveReads, serveWrites } = await import('../store/sqlite/threads/serve-store.js')
    if (role === 'write') serveWrites(parentPort, options, await writeOperations())
    else serveReads(parentPort, options, await readOperations())
  }
}

async function writeOperations() {
  return (await import('./write-operations.js')).writeOperations
}

async function readOperations() {
  return (await import('./read-operations.js')).readOperations
}
