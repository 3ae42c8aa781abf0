import type { ModuleMemory } from './module/module-memory.js'

const MIB = 1024 * 1024
const LEAST_WANTED_BYTES = 2 * MIB
/** How many times as much is kept free as was taken since the last look. */
const LOOKS_AHEAD = 2
const LEAST_GROWTH_BYTES = 4 * MIB
const GROWTH_SHARE = 0.5
/** What the allocator can note in a word. */
const NOTEWORTHY_BYTES = 2 ** 32 - 1

/**
 * Keeps room ahead of a module that allocates. Its allocator asks for a page at a time, and every growth makes V8 collect garbage,
 * on all cores: an evaluation that fills its memory spent more on that than on itself.
 */
export class MemoryHeadroom {
  readonly #memory: ModuleMemory
  readonly #heapPointer: () => number
  /** The address of the allocator's note of the size (`heap_top`); undefined where it is not known for sure. */
  readonly #note: number | undefined
  #notedBytes = 0
  #bytesWhenNew = 0
  #heapSeen = 0

  /** `sizes` are what `findSizes` gave: of several, the allocator's own cannot be told. */
  constructor(memory: ModuleMemory, heapPointer: () => number, sizes: readonly number[]) {
    this.#memory = memory
    this.#heapPointer = heapPointer
    this.#note = sizes.length === 1 ? sizes[0] : undefined
  }

  /**
   * Tells the allocator of memory that grew without it. It takes its note for the end of the memory, and where the heap was set
   * behind that, it asks for a page for every block, until it has asked for as much as there is already.
   */
  tell(): void {
    const size = this.#memory.byteLength
    if (size === this.#notedBytes || this.#note === undefined || size > NOTEWORTHY_BYTES) return
    this.#memory.bytes.writeUInt32LE(size, this.#note)
    this.#notedBytes = size
  }

  /** Tells that what is there now stays: base documents above all, however large, are no sign of what evaluations need. */
  begin(): void {
    this.tell()
    this.#bytesWhenNew = this.#memory.byteLength
  }

  /** Called now and then while the module runs: grows the memory by a share where little of it is free. */
  keep(): void {
    if (this.#note === undefined) return
    const size = this.#memory.byteLength
    const heap = this.#heapPointer()
    const taken = heap - this.#heapSeen
    this.#heapSeen = heap
    if (size - heap >= Math.max(LEAST_WANTED_BYTES, taken * LOOKS_AHEAD)) return
    const ownBytes = size - this.#bytesWhenNew
    this.#memory.growBy(Math.max(LEAST_GROWTH_BYTES, ownBytes * GROWTH_SHARE), NOTEWORTHY_BYTES)
    this.tell()
  }
}
