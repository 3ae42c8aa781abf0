import { Worker } from 'node:worker_threads'
import { SupervisedThread } from '../../lib/threads/supervised-thread.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { ShippingMetrics } from '../../store/ports/decision-shipping.js'

/** Ships the local log to one receiver, on a thread of its own. */
export interface DecisionShipping {
  readonly metrics: () => ShippingMetrics
  /**
   * Resolves once all current decisions of the local file are shipped or could not be. Never
   * rejects.
   */
  readonly catchUp: () => Promise<void>
  /** Ships the remaining decisions, for a few seconds at most. */
  readonly close: () => Promise<void>
  /** Sends the policies to the thread again. */
  readonly policiesChanged: () => void
}

export interface ShippingThreadOptions {
  /** Script of the thread. */
  readonly script: URL
  /** Start data of the thread. */
  readonly workerData: object
  readonly died: (death: ThreadDeath) => void
  /** Called when shipping fails, and with undefined when it works again. */
  readonly changed: (problem: string | undefined) => void
  /** Message with the policies that shape events, if there are any; undefined before they are loaded. */
  readonly policies?: (() => object | undefined) | undefined
  /** Aborted when the receiver cannot be reached during a stop. */
  readonly abandoned?: AbortSignal | undefined
}

/** To the shipping thread. `catch_up` is answered by `caught_up` with the same number. */
export type ShippingRequest =
  | { readonly type: 'catch_up'; readonly number: number }
  | { readonly type: 'close' }
  /** The policies that shape events; undefined if they have no rules about that. */
  | { readonly type: 'policies'; readonly policies: unknown }

/** From the shipping thread. */
export type ShippingAnswer =
  | { readonly type: 'metrics'; readonly metrics: ShippingMetrics }
  | { readonly type: 'caught_up'; readonly number: number }

/** Masking a decision of 16 MB parses it. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }
/** Interval at which a dead thread is started again. */
const RESTART_INTERVAL_MS = 5000
const LAST_ROUND_MS = 3000

/** Starts shipping. Unshipped decisions stay in the local file for the next start. */
export function startShipping(options: ShippingThreadOptions): DecisionShipping {
  const shipping = new ShippingThread(options)
  return {
    metrics: () => shipping.metrics,
    catchUp: () => shipping.catchUp(),
    close: () => shipping.close(options.abandoned),
    policiesChanged: () => shipping.sendPolicies(),
  }
}

class ShippingThread {
  readonly #thread: SupervisedThread
  readonly #restarts: NodeJS.Timeout
  readonly #changed: ShippingThreadOptions['changed']
  readonly #policies: ShippingThreadOptions['policies']
  readonly #waiting = new Map<number, () => void>()
  #requests = 0
  /** Number of decisions that earlier threads shipped. */
  #shippedBefore = 0
  #metrics: ShippingMetrics = { shipped: 0, waiting: 0, missing: 0 }

  constructor({ script, workerData, died, changed, policies }: ShippingThreadOptions) {
    this.#changed = changed
    this.#policies = policies
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

  sendPolicies(thread = this.#take()): void {
    const message = this.#policies?.()
    if (message !== undefined) thread?.postMessage(message)
  }

  async close(abandoned?: AbortSignal): Promise<void> {
    clearInterval(this.#restarts)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, abandoned?.aborted === true ? 0 : LAST_ROUND_MS)
      abandoned?.addEventListener('abort', () => resolve())
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
    this.sendPolicies(thread)
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
