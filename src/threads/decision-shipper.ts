import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { EventLabels } from '../decisions/shipping/decision-event.js'
import { makeShapeDecision } from '../decisions/shipping/shape-event.js'
import type { LogRules, ShapeDecision, ShapingCounts } from '../decisions/shipping/shape-event.js'
import { ContinualShipping } from '../decisions/shipping/ship-continually.js'
import type { ShippingAnswer, ShippingRequest } from '../decisions/shipping/shipping-thread.js'
import { AppError, toError } from '../errors/app-error.js'
import { lowerThreadPriority } from '../lib/threads/thread-cpu-time.js'
import type { LogPolicies } from '../main/evaluations/log-rules.js'
import type { DecisionSinkConfig, ShipperOptions } from '../main/open-decision-sinks.js'
import type { DecisionReceiver } from '../store/ports/decision-shipping.js'
import type { PostgresSettings } from '../store/postgres/engine/postgres-settings.js'
import { openShippedLog } from '../store/sqlite/decisions/shipped-log.js'

/**
 * Lower priority than the thread that writes the local log, which loses waiting decisions sooner.
 */
const NICENESS = 5

/** The rules of the latest policies. The code below needs it while this module is loaded. */
class Shaping {
  readonly counts: ShapingCounts = { dropped: 0, maskFailed: 0 }
  rules: LogRules | undefined
  #loading: Promise<void> = Promise.reject(new AppError('unavailable', 'the policies are not loaded yet'))

  constructor() {
    this.#loading.catch(() => undefined)
  }

  load(policies: LogPolicies | undefined): void {
    this.#loading = this.#load(policies)
    this.#loading.catch(() => undefined)
  }

  async #load(policies: LogPolicies | undefined): Promise<void> {
    if (policies === undefined) {
      this.rules = undefined
      return
    }
    try {
      const { openLogRules } = await import('../main/evaluations/log-rules.js')
      this.rules = await openLogRules(policies)
    } catch (raw) {
      const message = `the masks of the decision log cannot be loaded: ${toError(raw).message}`
      throw new AppError('unavailable', message, { cause: raw })
    }
  }

  /** A receiver that waits for the rules. Raises `unavailable` if they cannot be loaded. */
  before(receiver: DecisionReceiver): DecisionReceiver {
    return {
      close: () => receiver.close(),
      keep: async (decisions) => {
        await this.#loading
        await receiver.keep(decisions)
      },
    }
  }
}

if (parentPort !== null) {
  lowerThreadPriority(NICENESS)
  await shipContinually(parentPort, workerData as ShipperOptions)
}

async function shipContinually(port: MessagePort, options: ShipperOptions): Promise<void> {
  const answer = (message: ShippingAnswer): void => port.postMessage(message)
  const { path, receiver, minMs, maxMs } = options
  const shaping = new Shaping()
  const shipping = new ContinualShipping({
    openLog: () => openShippedLog(path, receiver),
    receiver: await openReceiver(options.to, shaping),
    roundEnded: (metrics) => answer({ type: 'metrics', metrics: { ...metrics, ...shaping.counts } }),
  })
  let timer: NodeJS.Timeout | undefined
  const ship = async (): Promise<void> => {
    await shipping.catchUp()
    timer = setTimeout(() => void ship(), shipping.pauseMs({ minMs, maxMs, random: Math.random }))
  }
  if (options.to.type === 'database') timer = setTimeout(() => void ship(), 0)
  port.on('message', (request: ShippingRequest) => {
    if (request.type === 'policies') {
      shaping.load(request.policies as LogPolicies | undefined)
      // Nothing leaves before the masks are known.
      timer ??= setTimeout(() => void ship(), 0)
    } else if (request.type === 'catch_up') {
      const { number } = request
      void shipping.catchUp().then(() => answer({ type: 'caught_up', number }))
    } else {
      clearTimeout(timer)
      void shipping.close().finally(() => port.close())
    }
  })
}

/** Loads the code of one kind of receiver only. */
async function openReceiver(to: ShipperOptions['to'], shaping: Shaping): Promise<DecisionReceiver> {
  if (to.type === 'sink') {
    const shape = makeShapeDecision(to.labels, () => shaping.rules, shaping.counts)
    return shaping.before(await openSink(to, shape))
  }
  const { openDecisionReceiver } = await import('../store/postgres/decisions/decision-receiver.js')
  const { serviceSchema } = await import('../store/postgres/migrations/service.js')
  return openDecisionReceiver(to.settings as PostgresSettings, to.replica, serviceSchema)
}

interface SinkOptions {
  readonly sink: DecisionSinkConfig
  readonly labels: EventLabels
}

async function openSink({ sink, labels }: SinkOptions, shape: ShapeDecision): Promise<DecisionReceiver> {
  if (sink.type !== 'file') {
    const { openUpload } = await import('../main/open-upload.js')
    return openUpload(sink, labels, shape)
  }
  const { FileReceiver } = await import('../decisions/shipping/file-receiver.js')
  const { path, maxFileBytes: maxBytes, rotatedFiles: files } = sink
  return new FileReceiver({ path, shape, maxBytes, files })
}
