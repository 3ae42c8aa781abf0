import type { ModuleMemory } from '../module/module-memory.js'

/** What `assembly/functions.ts` is built as, which is linked into every module, and what its exports are called there. */
export const LINKED_FILE = 'pdp/wasm/linked.wasm'
export const LINKED_PREFIX = 'tidegate_linked_'
/** The functions of OPA's runtime that policies call, and those that they call in their place. */
export const REPLACED: Readonly<Record<string, string>> = {
  opa_value_iter: 'nextKey',
  opa_value_shallow_copy: 'copyObject',
}

/** Has a module go through objects and sets in Rego's order. Each is sorted when an evaluation comes to it for the first time. */
export class OrderedIteration {
  readonly #memory: ModuleMemory
  readonly #notes: number
  #evaluations = 0

  private constructor(memory: ModuleMemory, notes: number) {
    this.#memory = memory
    this.#notes = notes
  }

  /** How many bytes the notes of an instance take; 0 where nothing could be linked into its module. */
  static bytesOf(exports: WebAssembly.Exports): number {
    const notesBytes = exports[`${LINKED_PREFIX}notesBytes`]
    return typeof notesBytes === 'function' ? notesBytes() : 0
  }

  /** Puts the notes at an address that is free for them. Values must be laid out as the linked code knows them. */
  static begin(
    exports: WebAssembly.Exports,
    memory: ModuleMemory,
    address: number,
  ): OrderedIteration | undefined {
    const setNotes = exports[`${LINKED_PREFIX}setNotes`]
    if (typeof setNotes !== 'function') return undefined
    setNotes(address)
    return new OrderedIteration(memory, address)
  }

  /** To be called when an evaluation begins: where values lay in the last one, others will lie. */
  startEvaluation(): void {
    this.#memory.bytes.writeDoubleLE(++this.#evaluations, this.#notes)
  }
}
