import { AppError } from '../../errors/app-error.js'
import type { DataImage } from './data/data-image.js'
import { printImage } from './data/print-image.js'
import type { HostValues } from './host-values.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'

export const ALIGNMENT = 8

/** The address of `data` in a module's memory and the first free address after it. */
export interface PlacedData {
  readonly root: number
  readonly end: number
}

/** Reserves memory for the image of the data. `from` is the end of the memory in use. */
export function reserveImage(
  memory: ModuleMemory,
  { bytes, base, root }: DataImage,
  from: number,
): PlacedData {
  if (from > base) throw new AppError('internal', 'the data was made for a smaller policy module')
  memory.reserve(base, bytes.length)
  return { root, end: base + bytes.length }
}

export function copyImage(
  memory: ModuleMemory,
  { bytes, base }: DataImage,
  start: number,
  end: number,
): void {
  memory.place(bytes.subarray(start, end), base + start)
}

/** Parses the data in the module if its runtime has another memory layout. */
export function parseImage(
  exports: PolicyExports,
  values: HostValues,
  data: DataImage,
  from: number,
): PlacedData {
  exports.opa_heap_ptr_set(from)
  const root = values.parse(printImage(data, data.root), exports.opa_json_parse)
  return { root, end: exports.opa_heap_ptr_get() }
}

/** Rounds an address up to the alignment of values. */
export function align(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT
}

const MIB = 1024 * 1024
const MIN_FREE_BYTES = 2 * MIB
/** Free memory relative to the memory taken since the last check. */
const FREE_PER_TAKEN_BYTE = 2
const MIN_GROWTH_BYTES = 4 * MIB
const GROWTH_SHARE = 0.5
/** The largest size that the allocator can store in a word. */
const MAX_NOTED_BYTES = 2 ** 32 - 1

/**
 * Grows the memory of a module ahead of its allocations. OPA's allocator requests one page at a
 * time, and every growth triggers a garbage collection in V8 on all cores, which can cost more than
 * the evaluation.
 */
export class MemoryHeadroom {
  readonly #memory: ModuleMemory
  readonly #heapPointer: () => number
  /** Address of the allocator's copy of the memory size; undefined if ambiguous. */
  readonly #note: number | undefined
  #notedBytes = 0
  #bytesWhenNew = 0
  #lastHeap = 0

  /** `sizes` is the result of `findSizes`; several addresses are ambiguous. */
  constructor(memory: ModuleMemory, heapPointer: () => number, sizes: readonly number[]) {
    this.#memory = memory
    this.#heapPointer = heapPointer
    this.#note = sizes.length === 1 ? sizes[0] : undefined
  }

  /**
   * Updates the allocator's copy of the memory size after growth by the host. The allocator takes
   * it for the end of the memory; if the heap starts after it, the allocator requests a page for
   * every block.
   */
  noteSize(): void {
    const size = this.#memory.byteLength
    if (size === this.#notedBytes || this.#note === undefined || size > MAX_NOTED_BYTES) return
    this.#memory.bytes.writeUInt32LE(size, this.#note)
    this.#notedBytes = size
  }

  /** Declares the current memory permanent, including base documents. */
  markPermanent(): void {
    this.noteSize()
    this.#bytesWhenNew = this.#memory.byteLength
  }

  /** Called periodically while the module runs. Grows the memory if little of it is free. */
  growIfNeeded(): void {
    if (this.#note === undefined) return
    const size = this.#memory.byteLength
    const heap = this.#heapPointer()
    const taken = heap - this.#lastHeap
    this.#lastHeap = heap
    if (size - heap >= Math.max(MIN_FREE_BYTES, taken * FREE_PER_TAKEN_BYTE)) return
    const ownBytes = size - this.#bytesWhenNew
    this.#memory.growBy(Math.max(MIN_GROWTH_BYTES, ownBytes * GROWTH_SHARE), MAX_NOTED_BYTES)
    this.noteSize()
  }
}
