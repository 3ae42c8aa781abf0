import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

import { threadCpuMs } from '../../src/lib/threads/thread-cpu-time.js'

/** How often the thread is looked at, and what it may have had of a core since the last time before that is noted. */
const LOOK_MS = 2
const LONG_MS = 8

const file = process.env['BENCH_TURNS_FILE']

// Loaded into each process of a measured service (`--import`): notes the pieces of work that held its thread, in milliseconds on a core.
if (isMainThread && file !== undefined) {
  let [lastCpu, lastAt] = [threadCpuMs(), performance.now()]
  setInterval(() => {
    const [cpu, now] = [threadCpuMs(), performance.now()]
    const [onCore, passed] = [cpu - lastCpu, now - lastAt]
    if (onCore > LONG_MS)
      appendFileSync(file, `${process.pid} ${Date.now()} ${onCore.toFixed(1)} ${passed.toFixed(1)}\n`)
    lastCpu = cpu
    lastAt = now
  }, LOOK_MS).unref()
}
