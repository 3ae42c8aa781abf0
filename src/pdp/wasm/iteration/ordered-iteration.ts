import type { ModuleMemory } from '../module/module-memory.js'

/** What `assembly/iterate.ts` is built as, which is linked into every module, and what its exports are called there. */
export const ITERATION_FILE = 'pdp/wasm/iteration.wasm'
export const ITERATION_PREFIX = 'tidegate_iteration_'

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
    const notesBytes = exports[`${ITERATION_PREFIX}notesBytes`]
    return typeof notesBytes === 'function' ? Number(notesBytes()) : 0
  }

  /** Puts the notes at an address that is free for them. Values must be laid out as the linked code knows them. */
  static begin(
    exports: WebAssembly.Exports,
    memory: ModuleMemory,
    address: number,
  ): OrderedIteration | undefined {
    const global = exports[`${ITERATION_PREFIX}notes`]
    if (!(global instanceof WebAssembly.Global)) return undefined
    global.value = address
    return new OrderedIteration(memory, address)
  }

  /** To be called when an evaluation begins: where values lay in the last one, others will lie. */
  startEvaluation(): void {
    this.#memory.bytes.writeDoubleLE(++this.#evaluations, this.#notes)
  }
}
