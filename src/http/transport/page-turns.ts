import { performance } from 'node:perf_hooks'
import type { EventLoopUtilization } from 'node:perf_hooks'

import { bodyBrokeOff } from '../exchange/body-errors.js'
import { LinePace, tooManyWait } from '../exchange/line-pace.js'
import type { WaitingLine } from './waiting-line.js'

/**
 * A page that is not there by then waits for something else than this thread, such as a database that is away, and nobody is to wait behind it. Where that goes on,
 * a turn is half as long as the one before, down to the least: what needs no database must not wait behind all that do.
 */
const [MOST_HELD_MS, LEAST_HELD_MS] = [100, 20]

interface Waiting {
  readonly begin: () => void
  readonly refuse: (error: Error) => void
}

/**
 * Has pages and lists made one after the other. One takes up to tens of milliseconds of this thread, most of them once the store has read for it: hundreds that
 * are asked for at once would be made in one turn of the event loop, or one in each turn in which a connection comes, and everybody else would wait for all of them.
 */
export class PageTurns {
  readonly #line: Pick<WaitingLine, 'takeTurn' | 'spent'>
  readonly #waiting: Waiting[] = []
  readonly #pace = new LinePace()
  /** What this thread had done when the turn began; undefined where nobody has one. */
  #before: EventLoopUtilization | undefined
  #heldMs = MOST_HELD_MS

  constructor(line: Pick<WaitingLine, 'takeTurn' | 'spent'>) {
    this.#line = line
  }

  /**
   * Resolves when it is the caller's turn, with what ends it: to be called once the page is there, or is known to fail. Rejects with `unavailable` where that would
   * be too late, by what those before it took. `whenGone` is given what a caller who goes away while he waits gives his place up by: it rejects then, too.
   */
  async take(whenGone: (leave: () => void) => void): Promise<() => void> {
    if (this.#before !== undefined) await this.#wait(whenGone)
    this.#before = performance.eventLoopUtilization()
    try {
      await this.#line.takeTurn(0)
    } catch (raw) {
      this.#next()
      throw raw
    }
    return this.#begin(this.#before)
  }

  #wait(whenGone: (leave: () => void) => void): Promise<void> {
    return new Promise((begin, refuse) => {
      const waiting = { begin, refuse }
      this.#waiting.push(waiting)
      whenGone(() => {
        const place = this.#waiting.indexOf(waiting)
        if (place === -1) return
        this.#waiting.splice(place, 1)
        refuse(bodyBrokeOff())
      })
    })
  }

  #begin(before: EventLoopUtilization): () => void {
    let isOver = false
    const end = (): void => {
      if (!isOver) this.#end(before)
      isOver = true
    }
    const late = setTimeout(() => {
      this.#heldMs = Math.max(this.#heldMs / 2, LEAST_HELD_MS)
      end()
    }, this.#heldMs).unref()
    return () => {
      if (!isOver) this.#heldMs = Math.min(this.#heldMs * 2, MOST_HELD_MS)
      clearTimeout(late)
      end()
    }
  }

  #end(before: EventLoopUtilization): void {
    const { active, idle } = performance.eventLoopUtilization(before)
    this.#line.spent(active)
    this.#pace.learn(1, active + idle)
    for (const { refuse } of this.#waiting.splice(this.#pace.inTime)) refuse(tooManyWait())
    this.#next()
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#before = undefined
      this.#pace.forget()
    }
    // In another turn of the event loop: what has been asked meanwhile goes before.
    else setImmediate(next.begin)
  }
}
