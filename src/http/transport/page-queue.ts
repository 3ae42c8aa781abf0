import PQueue from 'p-queue'

import { waitInQueue } from '../../lib/turns/wait-in-queue.js'
import { bodyIncomplete } from '../exchange/body-errors.js'
import { MAX_WAIT_MS, queueFull } from './request-queue.js'

/** Several, so that a page does not wait for a few others whose database is slow. */
const CONCURRENCY = 8

/**
 * Makes few pages and lists at once: one takes up to tens of milliseconds of this thread, most of them once the store has read for it, and everybody else would
 * wait for hundreds that are asked for at once.
 */
export class PageQueue {
  readonly #queue = new PQueue({ concurrency: CONCURRENCY })

  /**
   * What `make` makes, once it is its turn. Rejects with `unavailable` after five seconds of waiting. `whenGone` is given what gives the place up of a caller who
   * goes away while he waits.
   */
  make<T>(make: () => Promise<T>, whenGone: (leave: () => void) => void): Promise<T> {
    const waiting = new AbortController()
    const late = setTimeout(() => waiting.abort(queueFull()), MAX_WAIT_MS)
    whenGone(() => waiting.abort(bodyIncomplete()))
    return waitInQueue(this.#queue, make, waiting.signal).finally(() => clearTimeout(late))
  }
}
