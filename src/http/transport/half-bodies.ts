/** Who receives a body, and can do without it. */
export interface BodyReceiver {
  /** Refuses the request, for others or because nothing more has come for long, and keeps nothing of its body. */
  giveUp(reason: GiveUpReason): void
}

export type GiveUpReason = 'no_room' | 'stalled'

const SWEEP_MS = 1000
/** Sweeps without a byte, after which the rest of a body is not waited for. */
const MOST_STALLED_SWEEPS = 10

interface HalfBody {
  bytes: number
  /** The sweep before its last bytes. */
  lastSweep: number
}

/** All bodies that have come in part hold no more than this together. */
export const MOST_HALF_BODY_BYTES = 256 * 1024 * 1024

/**
 * What bodies hold that have come in part. Beyond the bound the one that began first, and holds something, is given up: who sends many bodies and ends none
 * of them takes no memory, and no room from those that come. One of which nothing more comes is given up after a while.
 */
export class HalfBodies {
  readonly #bodies = new Map<BodyReceiver, HalfBody>()
  readonly #maxBytes: number
  #total = 0
  #sweeps = 0
  /** Runs while there are any. */
  #timer: NodeJS.Timeout | undefined

  /** `maxBodyBytes` is as large as one body may be: whatever the bound, four of them have room. */
  constructor(maxBodyBytes: number, maxBytes = MOST_HALF_BODY_BYTES) {
    this.#maxBytes = Math.max(maxBytes, 4 * maxBodyBytes)
  }

  /** Bytes that are held now. */
  get total(): number {
    return this.#total
  }

  /** Counts more of a body, or that one is waited for; may call `giveUp` of this or another receiver before it returns. */
  hold(receiver: BodyReceiver, bytes: number): void {
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    const body = this.#bodies.get(receiver)
    if (body === undefined) this.#bodies.set(receiver, { bytes, lastSweep: this.#sweeps })
    else {
      body.bytes += bytes
      body.lastSweep = this.#sweeps
    }
    this.#total += bytes
    for (const [oldest, held] of this.#bodies) {
      if (this.#total <= this.#maxBytes) return
      if (held.bytes === 0) continue
      this.release(oldest)
      oldest.giveUp('no_room')
    }
  }

  /** Counting sweeps and not time, a process that stood still finds what has come meanwhile. */
  #sweep(): void {
    this.#sweeps += 1
    for (const [receiver, { lastSweep }] of this.#bodies) {
      if (this.#sweeps - lastSweep <= MOST_STALLED_SWEEPS) continue
      this.release(receiver)
      receiver.giveUp('stalled')
    }
    if (this.#bodies.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** The body is whole, or broke off. May be called again. */
  release(receiver: BodyReceiver): void {
    this.#total -= this.#bodies.get(receiver)?.bytes ?? 0
    this.#bodies.delete(receiver)
  }
}
