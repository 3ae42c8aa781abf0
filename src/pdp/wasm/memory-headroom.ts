import type { ModuleMemory } from './module/module-memory.js'

const MIB = 1024 * 1024
const WANTED_BYTES = 2 * MIB
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

  /** `sizes` are what `findSizes` gave: of several, the allocator's own cannot be told. */
  constructor(memory: ModuleMemory, heapPointer: () => number, sizes: readonly number[]) {
    this.#memory = memory
    this.#heapPointer = heapPointer
    this.#note = sizes.length === 1 ? sizes[0] : undefined
  }

  /** Called now and then while the module runs: grows the memory by a share where little of it is free. */
  keep(): void {
    if (this.#note === undefined) return
    const size = this.#memory.byteLength
    if (size - this.#heapPointer() >= WANTED_BYTES) return
    const grown = this.#memory.growBy(Math.max(LEAST_GROWTH_BYTES, size * GROWTH_SHARE), NOTEWORTHY_BYTES)
    if (grown > size) this.#memory.bytes.writeUInt32LE(grown, this.#note)
  }
}
