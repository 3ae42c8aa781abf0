import { ProcessLink, channelToParent } from '../lib/processes/process-link.js'
import { ALL_SIGNALS } from '../main/process-events.js'
import { makeWorkerCalls } from '../main/worker-process/start-worker.js'
import type { MainCalls } from '../main/worker-pool/worker-calls.js'

const channel = channelToParent()

// The composition root of a process that decides beside the main one, which starts it and ends it.
if (channel !== undefined) {
  // A terminal and a service manager tell all processes to end; the main one then says so when it is time.
  for (const signal of ALL_SIGNALS) process.on(signal, () => undefined)
  // Without the main process nobody takes its decisions, and nobody would end it.
  channel.onGone(() => process.exit())
  const main: ProcessLink<MainCalls> = new ProcessLink<MainCalls>(
    channel,
    makeWorkerCalls(() => main),
  )
}
