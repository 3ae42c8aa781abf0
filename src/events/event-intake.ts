import { setImmediate, setTimeout } from 'node:timers/promises'
import { AppError } from '../errors/app-error.js'
import type { AuditReceipt } from '../store/ports/audit-store.js'
import type { Writer } from '../store/ports/transaction.js'
import type { EventEndpoint } from './orchestrator-event.js'
import { recordEvents } from './record-events.js'
import type { Intake, ReceivedBody } from './record-events.js'

/** Metrics of the intake since the start. */
export interface IntakeMetrics {
  readonly kept: number
  readonly repeated: number
  readonly refused: number
  readonly failed: number
  readonly waitingBytes: number
}

export interface EventIntakeDeps {
  readonly writer: Writer
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Highest memory of waiting bodies. */
  readonly maxWaitingBytes: number
}

interface Waiting {
  readonly received: ReceivedBody
  readonly resolve: (receipt: AuditReceipt) => void
  readonly reject: (error: unknown) => void
}

/** Limits of one write: number of bodies, and approximate bytes. */
const MAX_STEP_EVENTS = 256
const MAX_STEP_BYTES = 4 * 1024 * 1024
const STEP_INTERVAL_MS = 8

/**
 * Writes events to the trail. Events that arrive together share a write: the higher the load, the
 * cheaper each is.
 */
export class EventIntake {
  readonly #deps: EventIntakeDeps
  #waiting: Waiting[] = []
  #isRunning = false
  #startedAt = 0
  #kept = 0
  #repeated = 0
  #refused = 0
  #failed = 0
  #waitingBytes = 0

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps
  }

  get metrics(): IntakeMetrics {
    const [kept, repeated, refused, failed] = [this.#kept, this.#repeated, this.#refused, this.#failed]
    return { kept, repeated, refused, failed, waitingBytes: this.#waitingBytes }
  }

  /**
   * Resolves once the event is durable. Raises `invalid` for an unreadable body, and `unavailable`
   * if the store fails or too much is waiting.
   */
  take(body: Uint8Array, endpoint: EventEndpoint, origin: string | undefined): Promise<AuditReceipt> {
    if (this.#waitingBytes > this.#deps.maxWaitingBytes) {
      this.#failed += 1
      return Promise.reject(
        new AppError('unavailable', 'too many events are waiting to be written; try again'),
      )
    }
    this.#waitingBytes += body.byteLength
    return new Promise((resolve, reject) => {
      const received = { endpoint, body: alone(body), receivedMs: this.#deps.now(), origin }
      this.#waiting.push({ received, resolve, reject })
      if (!this.#isRunning) void this.#runAll()
    })
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.#waiting.length > 0) {
        await this.#gather()
        await this.#runStep(this.#waiting.splice(0, stepLength(this.#waiting)))
      }
    } finally {
      this.#isRunning = false
    }
  }

  /**
   * Waits for more events under load, since a write costs much more than an event. A quiet service
   * writes immediately.
   */
  async #gather(): Promise<void> {
    const pauseMs = this.#startedAt + STEP_INTERVAL_MS - performance.now()
    if (pauseMs > 0 && this.#waiting.length < MAX_STEP_EVENTS) await setTimeout(pauseMs)
    // Events of one turn of the event loop share a write.
    else await setImmediate()
    this.#startedAt = performance.now()
  }

  async #runStep(step: readonly Waiting[]): Promise<void> {
    try {
      const taken = await this.#deps.writer.run(
        recordEvents,
        step.map(({ received }) => received),
      )
      step.forEach((waiting, index) => this.#settle(waiting, taken[index]))
    } catch (error) {
      this.#failed += step.length
      for (const { reject } of step) reject(error)
    } finally {
      for (const { received } of step) this.#waitingBytes -= received.body.byteLength
    }
  }

  #settle({ resolve, reject }: Waiting, intake: Intake | undefined): void {
    if (intake === undefined) reject(new AppError('internal', 'an event was neither stored nor refused'))
    else if ('refusal' in intake) {
      const { kind, message, code, details } = intake.refusal
      this.#refused += 1
      reject(new AppError(kind, message, { code, details }))
    } else {
      if (intake.isNew) this.#kept += 1
      else this.#repeated += 1
      resolve(intake)
    }
  }
}

function stepLength(waiting: readonly Waiting[]): number {
  let bytes = 0
  let count = 0
  for (const { received } of waiting) {
    if (count >= MAX_STEP_EVENTS || bytes >= MAX_STEP_BYTES) break
    bytes += received.body.byteLength
    count += 1
  }
  return count
}

/**
 * Copies bytes that are part of a larger buffer, which would be sent to the other thread as a
 * whole.
 */
function alone(body: Uint8Array): Uint8Array {
  const isWhole = body.byteLength === body.buffer.byteLength && !Buffer.isBuffer(body)
  return isWhole ? body : new Uint8Array(body)
}
