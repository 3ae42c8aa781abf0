import PQueue from 'p-queue'

import { waitInQueue } from '../../lib/turns/wait-in-queue.js'
import { bodyIncomplete } from '../exchange/body-errors.js'
import { MAX_WAIT_MS, queueFull } from './request-queue.js'

/** Allows several, so that a page does not wait for others with a slow database. */
const CONCURRENCY = 8

/**
 * Limits how many pages and lists are rendered at a time. Each blocks the thread for up to tens of
 * milliseconds, so hundreds of them would block all other requests.
 */
export class PageQueue {
  readonly #queue = new PQueue({ concurrency: CONCURRENCY })

  /**
   * Calls `make` at its turn. Rejects with `unavailable` after five seconds of waiting. `whenGone`
   * receives the function that leaves the queue when the client disconnects.
   */
  make<T>(make: () => Promise<T>, whenGone: (leave: () => void) => void): Promise<T> {
    const waiting = new AbortController()
    const late = setTimeout(() => waiting.abort(queueFull()), MAX_WAIT_MS)
    whenGone(() => waiting.abort(bodyIncomplete()))
    return waitInQueue(this.#queue, make, waiting.signal).finally(() => clearTimeout(late))
  }
}
