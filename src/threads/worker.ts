import { ProcessLink, channelToParent } from '../lib/processes/process-link.js'
import { ALL_SIGNALS } from '../main/process-events.js'
import { makeWorkerCalls } from '../main/worker-process/start-worker.js'
import type { MainCalls } from '../main/worker-pool/worker-calls.js'

const channel = channelToParent()

// Entry point of a worker process, which the main process starts and ends.
if (channel !== undefined) {
  // Terminals and service managers signal all processes. This one stops when the main process says
  // so.
  for (const signal of ALL_SIGNALS) process.on(signal, () => undefined)
  // Without the main process, nobody receives its decisions or ends it.
  channel.onGone(() => process.exit())
  const main: ProcessLink<MainCalls> = new ProcessLink<MainCalls>(
    channel,
    makeWorkerCalls(() => main),
  )
}
