import { Worker } from 'node:worker_threads'
import { SupervisedThread } from '../../../lib/threads/supervised-thread.js'
import type {
  DecisionShipping,
  ShippingAnswer,
  ShippingMetrics,
  ShippingOptions,
  ShippingRequest,
} from '../../ports/decision-shipping.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'

/** Start data of the shipping thread. */
export interface ShipperThreadOptions extends Pick<ShippingOptions, 'path' | 'replica'> {
  readonly settings: PostgresSettings
  readonly intervalMs: number
}

const SHIP_INTERVAL_MS = 500
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }
/** Interval at which a dead thread is started again. */
const RESTART_INTERVAL_MS = 5000
const LAST_ROUND_MS = 3000

/** Starts shipping to a database. Unshipped decisions stay in the local file for the next start. */
export function startShipping(
  settings: PostgresSettings,
  options: ShippingOptions,
  givenUp: AbortSignal,
): DecisionShipping {
  const shipping = new ShippingThread(settings, options)
  return {
    metrics: () => shipping.metrics,
    catchUp: () => shipping.catchUp(),
    close: () => shipping.close(givenUp),
  }
}

class ShippingThread {
  readonly #thread: SupervisedThread
  readonly #restarts: NodeJS.Timeout
  readonly #changed: ShippingOptions['changed']
  readonly #waiting = new Map<number, () => void>()
  #requests = 0
  /** Number of decisions that earlier threads shipped. */
  #shippedBefore = 0
  #metrics: ShippingMetrics = { shipped: 0, waiting: 0, missing: 0 }

  constructor(settings: PostgresSettings, { script, path, replica, died, changed }: ShippingOptions) {
    const workerData: ShipperThreadOptions = { path, replica, settings, intervalMs: SHIP_INTERVAL_MS }
    this.#changed = changed
    this.#thread = new SupervisedThread({
      name: 'the thread that ships decisions',
      start: () => this.#listenTo(new Worker(script, { workerData, resourceLimits: THREAD_LIMITS })),
      died,
    })
    this.#take()
    this.#restarts = setInterval(() => this.#take(), RESTART_INTERVAL_MS).unref()
  }

  get metrics(): ShippingMetrics {
    const { shipped, ...rest } = this.#metrics
    const problem = this.#thread.problem ?? rest.problem
    return { ...rest, shipped: this.#shippedBefore + shipped, problem }
  }

  catchUp(): Promise<void> {
    const thread = this.#take()
    if (thread === undefined) return Promise.resolve()
    const number = ++this.#requests
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve)
      thread.postMessage({ type: 'catch_up', number } satisfies ShippingRequest)
    })
  }

  async close(givenUp: AbortSignal): Promise<void> {
    clearInterval(this.#restarts)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, givenUp.aborted ? 0 : LAST_ROUND_MS)
      givenUp.addEventListener('abort', () => resolve())
    })
    await Promise.race([this.catchUp(), timeout])
    const thread = this.#thread.release()
    if (thread !== undefined) {
      const ended = new Promise((resolve) => thread.once('exit', resolve))
      thread.postMessage({ type: 'close' } satisfies ShippingRequest)
      await Promise.race([ended, timeout])
      await thread.terminate()
    }
    clearTimeout(timer)
  }

  /** Returns undefined during the pause after repeated deaths. */
  #take(): Worker | undefined {
    try {
      return this.#thread.take()
    } catch {
      return undefined
    }
  }

  #listenTo(thread: Worker): Worker {
    thread.on('message', (answer: ShippingAnswer) => {
      if (answer.type === 'metrics') this.#note(answer.metrics)
      else this.#settle(answer.number)
    })
    thread.once('exit', () => {
      this.#shippedBefore += this.#metrics.shipped
      this.#metrics = { ...this.#metrics, shipped: 0 }
      for (const number of [...this.#waiting.keys()]) this.#settle(number)
    })
    return thread
  }

  #note(metrics: ShippingMetrics): void {
    const wasWell = this.#metrics.problem === undefined
    this.#metrics = metrics
    if (wasWell !== (metrics.problem === undefined)) this.#changed(metrics.problem)
  }

  #settle(number: number): void {
    this.#waiting.get(number)?.()
    this.#waiting.delete(number)
  }
}
