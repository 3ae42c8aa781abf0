import { STATE_EXPORT } from './module/meter-module.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'

const WORD_BYTES = 4
/** A function of the runtime may need so many bytes of stack at once. */
const LAST_OF_STACK = 1024

/**
 * What a module that has been set up remembers between two evaluations: its static memory (the data segments, the allocator's
 * lists, the C stack) and its globals (the top of that stack). An exception that leaves the module in the middle of its work
 * leaves these as they are; put back, the module is as new. The parsed data behind the static memory is only ever read.
 */
export class ModuleState {
  readonly #memory: ModuleMemory
  readonly #staticBytes: Buffer
  readonly #sizes: readonly number[]
  readonly #globals: readonly { readonly global: WebAssembly.Global; readonly value: number }[]

  /** Takes the state as it is now. Static memory ends at an address; `sizes` are the words in it that `findSizes` gave. */
  constructor(
    memory: ModuleMemory,
    exports: WebAssembly.Exports,
    staticEnd: number,
    sizes: readonly number[],
  ) {
    this.#memory = memory
    this.#staticBytes = Buffer.from(memory.bytes.subarray(0, staticEnd))
    this.#sizes = sizes
    this.#globals = Object.entries(exports).flatMap(([name, exported]) =>
      name.startsWith(STATE_EXPORT) && exported instanceof WebAssembly.Global
        ? [{ global: exported, value: exported.value }]
        : [],
    )
  }

  /** Whether the C stack, which grows towards address 0 and ends there, has been used up. */
  get isStackUsedUp(): boolean {
    return this.#globals.some(({ global, value }) => value > LAST_OF_STACK && global.value < LAST_OF_STACK)
  }

  /** Puts the state back, except for what the module knows of the size of its memory, which never shrinks. */
  restore(): void {
    const { bytes } = this.#memory
    const sizes = this.#sizes.map((address) => bytes.readUInt32LE(address))
    bytes.set(this.#staticBytes, 0)
    this.#sizes.forEach((address, index) => bytes.writeUInt32LE(sizes[index] ?? 0, address))
    for (const { global, value } of this.#globals) global.value = value
  }
}

/**
 * The addresses of the words in static memory that hold the size of the memory: the allocator's own note (`heap_top` in OPA's
 * malloc.c). Were it put back after the memory grew, the allocator would have it grow again. Which words do is found out by having
 * the memory grow once: constants that are the same number by chance stay as they are.
 */
export function findSizes(
  memory: ModuleMemory,
  staticEnd: number,
  allocator: Pick<PolicyExports, 'opa_malloc' | 'opa_free' | 'opa_heap_ptr_get'>,
): number[] {
  const before = wordsThatAre(memory.byteLength, memory, staticEnd)
  if (!memory.canGrow) return before
  allocator.opa_free(allocator.opa_malloc(memory.byteLength - allocator.opa_heap_ptr_get() + 1))
  const after = new Set(wordsThatAre(memory.byteLength, memory, staticEnd))
  return before.filter((address) => after.has(address))
}

function wordsThatAre(size: number, { memory }: ModuleMemory, end: number): number[] {
  // By words, not bytes: a size begins with a byte of 0, as nearly all words of static memory do.
  const words = new Uint32Array(memory.buffer, 0, Math.floor(end / WORD_BYTES))
  const found: number[] = []
  for (let place = words.indexOf(size); place !== -1; place = words.indexOf(size, place + 1))
    found.push(place * WORD_BYTES)
  return found
}
