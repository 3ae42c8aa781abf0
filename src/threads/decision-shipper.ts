import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { EventLabels } from '../decisions/shipping/decision-event.js'
import { ContinualShipping } from '../decisions/shipping/ship-continually.js'
import type { ShippingAnswer, ShippingRequest } from '../decisions/shipping/shipping-thread.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { DecisionSinkConfig, ShipperOptions } from '../main/open-decision-sinks.js'
import type { DecisionReceiver } from '../store/ports/decision-shipping.js'
import type { PostgresSettings } from '../store/postgres/engine/postgres-settings.js'
import { openShippedLog } from '../store/sqlite/decisions/shipped-log.js'

/**
 * Lower priority than the thread that writes the local log, which loses waiting decisions sooner.
 */
const NICENESS = 5

if (parentPort !== null) {
  lowerThreadPriority(NICENESS)
  await shipContinually(parentPort, workerData as ShipperOptions)
}

async function shipContinually(port: MessagePort, options: ShipperOptions): Promise<void> {
  const answer = (message: ShippingAnswer): void => port.postMessage(message)
  const { path, receiver, minMs, maxMs } = options
  const shipping = new ContinualShipping({
    openLog: () => openShippedLog(path, receiver),
    receiver: await openReceiver(options.to),
    roundEnded: (metrics) => answer({ type: 'metrics', metrics }),
  })
  let timer: NodeJS.Timeout | undefined
  const ship = async (): Promise<void> => {
    await shipping.catchUp()
    timer = setTimeout(() => void ship(), shipping.pauseMs({ minMs, maxMs, random: Math.random }))
  }
  timer = setTimeout(() => void ship(), 0)
  port.on('message', (request: ShippingRequest) => {
    if (request.type === 'catch_up') {
      const { number } = request
      void shipping.catchUp().then(() => answer({ type: 'caught_up', number }))
    } else {
      clearTimeout(timer)
      void shipping.close().finally(() => port.close())
    }
  })
}

/** Loads the code of one kind of receiver only. */
async function openReceiver(to: ShipperOptions['to']): Promise<DecisionReceiver> {
  if (to.type === 'sink') return await openSink(to.sink, to.labels)
  const { openDecisionReceiver } = await import('../store/postgres/decisions/decision-receiver.js')
  const { serviceSchema } = await import('../store/postgres/migrations/service.js')
  return openDecisionReceiver(to.settings as PostgresSettings, to.replica, serviceSchema)
}

async function openSink(sink: DecisionSinkConfig, labels: EventLabels): Promise<DecisionReceiver> {
  if (sink.type !== 'file') {
    const { openUpload } = await import('../main/open-upload.js')
    return openUpload(sink, labels)
  }
  const { FileReceiver } = await import('../decisions/shipping/file-receiver.js')
  const { path, maxFileBytes: maxBytes, rotatedFiles: files } = sink
  return new FileReceiver({ path, labels, maxBytes, files })
}
