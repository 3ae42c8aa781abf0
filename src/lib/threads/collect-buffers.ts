import { collectorOfGarbage } from './collect-garbage.js'

/**
 * Buffers are freed in the background after a collection, on busy cores not before the next one. So two of these, a copy of each body and what is
 * in use must stay below what the heap may grow by until V8 marks the whole of it, some 20 MB.
 */
const BYTES_A_COLLECTION = 4 * 1024 * 1024
/** With smaller ones, what else a request leaves behind has the young collected soon enough. */
const LEAST_BYTES = 8 * 1024

/**
 * Collects the young when many bytes of buffers have been used. They lie outside of the space whose filling makes V8 collect it, so that large bodies, of which
 * little else is kept, are found dead only when the whole heap has been marked: twenty times a second at 1,000 bodies of 200 KB, which cost a third of the CPU.
 */
export class BufferGarbage {
  readonly #collect: () => void
  #bytes = 0

  constructor(collect = collectYoung) {
    this.#collect = collect
  }

  /** To be called with the size of each buffer, in bytes, that is needed no longer than what is done now. */
  used(bytes: number): void {
    if (bytes < LEAST_BYTES) return
    this.#bytes += bytes
    if (this.#bytes < BYTES_A_COLLECTION) return
    this.#bytes = 0
    // By then what is done with it now has been done.
    setImmediate(this.#collect)
  }
}

function collectYoung(): void {
  collectorOfGarbage()({ type: 'minor' })
}
