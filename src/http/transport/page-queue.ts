import PQueue from 'p-queue'

import { waitInQueue } from '../../lib/turns/wait-in-queue.js'
import { bodyBrokeOff } from '../exchange/body-errors.js'
import { MAX_WAIT_MS, tooManyWait } from './request-queue.js'

/** Several, so that a page does not wait for a few others whose database is slow. */
const AT_ONCE = 8

/**
 * Makes few pages and lists at once: one takes up to tens of milliseconds of this thread, most of them once the store has read for it, and everybody else would
 * wait for hundreds that are asked for at once.
 */
export class PageQueue {
  readonly #queue = new PQueue({ concurrency: AT_ONCE })

  /**
   * What `make` makes, once it is its turn. Rejects with `unavailable` after five seconds of waiting. `whenGone` is given what gives the place up of a caller who
   * goes away while he waits.
   */
  make<T>(make: () => Promise<T>, whenGone: (leave: () => void) => void): Promise<T> {
    const waiting = new AbortController()
    const late = setTimeout(() => waiting.abort(tooManyWait()), MAX_WAIT_MS)
    whenGone(() => waiting.abort(bodyBrokeOff()))
    return waitInQueue(this.#queue, make, waiting.signal).finally(() => clearTimeout(late))
  }
}
