import { parentPort, workerData } from 'node:worker_threads'
import { operations } from './operations.js'
import type { StoreThreadOptions } from './store/sqlite/service/messages.js'
import { serveStore } from './store/sqlite/service/serve-store.js'

// The composition root of a thread of the store, as main.ts is that of the process.
if (parentPort !== null) serveStore(parentPort, workerData as StoreThreadOptions, operations)
