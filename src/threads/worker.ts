import type { ProcessLink as Link } from '../lib/processes/process-link.js'
import { loadBuiltIns } from '../lib/threads/load-built-ins.js'
import { keepYoungGenerationSmall } from '../lib/threads/small-young-generation.js'
import type { MainCalls } from '../main/workers/worker-calls.js'

await loadBuiltIns()
keepYoungGenerationSmall()

const { letOptimizeLate } = await import('../lib/threads/optimize.js')
const { limitGarbage } = await import('../lib/threads/limit-garbage.js')
const { ProcessLink, channelToParent } = await import('../lib/processes/process-link.js')
const { ALL_SIGNALS } = await import('../main/signals.js')
const { makeWorkerCalls } = await import('../main/worker-process/start-worker.js')

const channel = channelToParent()

// The composition root of a process that decides beside the main one, which starts it and ends it.
if (channel !== undefined) {
  // It has half as much in use as the main process, and the same bodies to read.
  limitGarbage(300)
  letOptimizeLate(10)
  // A terminal and a service manager tell all processes to end; the main one then says so when it is time.
  for (const signal of ALL_SIGNALS) process.on(signal, () => undefined)
  // Without the main process nobody takes its decisions, and nobody would end it.
  channel.onGone(() => process.exit())
  const main: Link<MainCalls> = new ProcessLink<MainCalls>(
    channel,
    makeWorkerCalls(() => main),
  )
}
