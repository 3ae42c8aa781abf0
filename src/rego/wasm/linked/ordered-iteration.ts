import type { ModuleMemory } from '../module/module-memory.js'
import type { PolicyExports } from '../module/policy-exports.js'

/** The build output of `assembly/functions.ts`, and the prefix of its linked exports. */
export const LINKED_FILE = 'rego/wasm/linked.wasm'
export const LINKED_PREFIX = 'tidegate_linked_'
/** Functions of OPA's runtime and their replacements in calls from policies. */
export const REPLACED: Readonly<Record<string, string>> = {
  opa_value_iter: 'nextKey',
  opa_value_get: 'elementAt',
  opa_value_shallow_copy: 'copyObject',
  opa_object_insert: 'insertMember',
  opa_set_add: 'addElement',
  opa_number_hash: 'numberHash',
}
/** The argument of `opa_abort` in `assembly/insert.ts`. */
export const CONFLICT = -2

/** Offsets in the notes: number of documents requested and kept (`assembly/sorted-keys.ts`). */
const [WANTED, KEPT] = [8, 12]

/** Makes a module iterate in Rego's order. Collections are sorted on first use. */
export class OrderedIteration {
  readonly #memory: ModuleMemory
  readonly #notes: number
  readonly #keepNext: () => number
  #evaluations = 0

  private constructor(memory: ModuleMemory, notes: number, keepNext: () => number) {
    this.#memory = memory
    this.#notes = notes
    this.#keepNext = keepNext
  }

  /** Returns the size of the notes in bytes; 0 if nothing could be linked. */
  static bytesOf(exports: WebAssembly.Exports): number {
    const notesBytes = exports[`${LINKED_PREFIX}notesBytes`]
    return typeof notesBytes === 'function' ? notesBytes() : 0
  }

  /** Places the notes at a free address. Requires the known memory layout. */
  static begin(
    exports: WebAssembly.Exports,
    memory: ModuleMemory,
    address: number,
    dataEnd: number,
  ): OrderedIteration | undefined {
    const setNotes = exports[`${LINKED_PREFIX}setNotes`]
    const keepNext = exports[`${LINKED_PREFIX}keepNext`]
    if (typeof setNotes !== 'function' || typeof keepNext !== 'function') return undefined
    setNotes(address, dataEnd)
    return new OrderedIteration(memory, address, () => keepNext())
  }

  /** Starts an evaluation, which invalidates the notes of the previous one. */
  startEvaluation(): void {
    this.#memory.bytes.writeDoubleLE(++this.#evaluations, this.#notes)
  }

  /** True if the last evaluation sorted base documents that should stay sorted. */
  get wantsKept(): boolean {
    return this.#memory.bytes.readUInt32LE(this.#notes + WANTED) > 0
  }

  /** Sorts them permanently and returns the address after them, or keeps none. */
  keep(heapStart: number, heap: Pick<PolicyExports, 'opa_heap_ptr_get' | 'opa_heap_ptr_set'>): number {
    const kept = this.#memory.bytes.readUInt32LE(this.#notes + KEPT)
    try {
      heap.opa_heap_ptr_set(heapStart)
      while (this.#keepNext() !== 0);
      return heap.opa_heap_ptr_get()
    } catch (raw) {
      this.#memory.bytes.writeUInt32LE(0, this.#notes + WANTED)
      this.#memory.bytes.writeUInt32LE(kept, this.#notes + KEPT)
      throw raw
    }
  }
}
