import type { ModuleMemory } from '../module/module-memory.js'
import type { PolicyExports } from '../module/policy-exports.js'

/** What `assembly/functions.ts` is built as, which is linked into every module, and what its exports are called there. */
export const LINKED_FILE = 'rego/wasm/linked.wasm'
export const LINKED_PREFIX = 'tidegate_linked_'
/** The functions of OPA's runtime that policies call (`opa_number_hash`: that its `opa_value_hash` calls), and those that they call in their place. */
export const REPLACED: Readonly<Record<string, string>> = {
  opa_value_iter: 'nextKey',
  opa_value_shallow_copy: 'copyObject',
  opa_object_insert: 'insertMember',
  opa_set_add: 'addElement',
  opa_number_hash: 'numberHash',
}
/** What `assembly/insert.ts` calls `opa_abort` with. */
export const CONFLICT = -2

/** How many documents are asked for and kept, in the notes (`assembly/sorted-keys.ts`). */
const [WANTED, KEPT] = [8, 12]

/** Has a module go through objects and sets in Rego's order. Each is sorted when an evaluation comes to it for the first time. */
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

  /** How many bytes the notes of an instance take; 0 where nothing could be linked into its module. */
  static bytesOf(exports: WebAssembly.Exports): number {
    const notesBytes = exports[`${LINKED_PREFIX}notesBytes`]
    return typeof notesBytes === 'function' ? notesBytes() : 0
  }

  /** Puts the notes at an address that is free for them; base documents end at another. Values must be laid out as the linked code knows them. */
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

  /** To be called when an evaluation begins: where values lay in the last one, others will lie. */
  startEvaluation(): void {
    this.#memory.bytes.writeDoubleLE(++this.#evaluations, this.#notes)
  }

  /** Whether the last evaluation came to base documents that are worth keeping in order. */
  get wantsKept(): boolean {
    return this.#memory.bytes.readUInt32LE(this.#notes + WANTED) > 0
  }

  /** Sorts them where the heap begins, and gives the address behind them. Raises what the module raises: then it keeps none of them. */
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
