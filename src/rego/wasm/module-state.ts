import { STATE_EXPORT } from './module/meter-module.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'

const WORD_BYTES = 4
/** Bytes of stack that a function of the runtime may need at once. */
const LAST_OF_STACK = 1024

/**
 * The state of a module between evaluations: its static memory (data segments, the allocator's
 * lists, the C stack) and its globals (the top of the stack). An exception that leaves the module
 * mid-work corrupts both; restoring them makes the module usable again. The data after the static
 * memory is only ever read.
 */
export class ModuleState {
  readonly #memory: ModuleMemory
  readonly #staticBytes: Buffer
  readonly #sizes: readonly number[]
  readonly #globals: readonly { readonly global: WebAssembly.Global; readonly value: number }[]

  /** Captures the current state. `sizes` are the addresses from `findSizes`. */
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

  /** True if the C stack, which grows towards address 0, is used up. */
  get isStackUsedUp(): boolean {
    return this.#globals.some(({ global, value }) => value > LAST_OF_STACK && global.value < LAST_OF_STACK)
  }

  /** Restores the state except for the copies of the memory size, because memory never shrinks. */
  restore(): void {
    const { bytes } = this.#memory
    const sizes = this.#sizes.map((address) => bytes.readUInt32LE(address))
    bytes.set(this.#staticBytes, 0)
    this.#sizes.forEach((address, index) => bytes.writeUInt32LE(sizes[index] ?? 0, address))
    for (const { global, value } of this.#globals) global.value = value
  }
}

/**
 * Returns the addresses of words in static memory that hold the memory size: the allocator's copy
 * (`heap_top` in OPA's malloc.c). If they were restored after the memory grew, the allocator would
 * grow it again. They are found by growing the memory once, since constants of equal value do not
 * change.
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
  // By words, not bytes: sizes start with a zero byte, like nearly all words of static memory.
  const words = new Uint32Array(memory.buffer, 0, Math.floor(end / WORD_BYTES))
  const found: number[] = []
  for (let index = words.indexOf(size); index !== -1; index = words.indexOf(size, index + 1))
    found.push(index * WORD_BYTES)
  return found
}
