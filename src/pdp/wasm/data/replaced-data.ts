import { markSoon } from '../../../lib/threads/mark-soon.js'
import type { DataImage } from './data-image.js'

/** Of less, marking the heap is not worth it, in bytes. */
const LARGE_BYTES = 8 * 1024 * 1024
/** By then the decisions that began with what was replaced have ended. */
const LET_GO_MS = 1000

/** Whether base documents hold so much that it should soon go back to the system once they are replaced. */
export function isLarge({ bytes }: DataImage): boolean {
  return bytes.length >= LARGE_BYTES
}

/** Gives back soon what replaced base documents held. */
export class ReplacedData {
  readonly #mark: () => void
  #serving: DataImage | undefined

  constructor(mark = markSoon) {
    this.#mark = mark
  }

  /** These serve from now on. */
  serves(image: DataImage): void {
    const before = this.#serving
    this.#serving = image
    if (before !== undefined && image !== before && isLarge(before)) setTimeout(this.#mark, LET_GO_MS).unref()
  }
}
