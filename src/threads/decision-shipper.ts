import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { ContinualShipping } from '../decisions/ship-continually.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { ShippingAnswer, ShippingRequest } from '../store/ports/decision-shipping.js'
import { openDecisionReceiver } from '../store/postgres/decisions/decision-receiver.js'
import { serviceSchema } from '../store/postgres/migrations/service.js'
import type { ShipperThreadOptions } from '../store/postgres/decisions/shipping-thread.js'
import { openShippedLog } from '../store/sqlite/decisions/shipped-log.js'

/**
 * Lower priority than the thread that writes the local log, which loses waiting decisions sooner.
 */
const NICENESS = 5

if (parentPort !== null) {
  lowerThreadPriority(NICENESS)
  shipContinually(parentPort, workerData as ShipperThreadOptions)
}

function shipContinually(
  port: MessagePort,
  { path, settings, replica, intervalMs }: ShipperThreadOptions,
): void {
  const answer = (message: ShippingAnswer): void => port.postMessage(message)
  const shipping = new ContinualShipping({
    openLog: () => openShippedLog(path),
    receiver: openDecisionReceiver(settings, replica, serviceSchema),
    roundEnded: (metrics) => answer({ type: 'metrics', metrics }),
  })
  const timer = setInterval(() => void shipping.catchUp(), intervalMs)
  port.on('message', (request: ShippingRequest) => {
    if (request.type === 'catch_up') {
      const { number } = request
      void shipping.catchUp().then(() => answer({ type: 'caught_up', number }))
    } else {
      clearInterval(timer)
      void shipping.close().finally(() => port.close())
    }
  })
}
