import { AppError, toError } from '../../../errors/app-error.js'
import { EvaluationAbort } from './evaluation-abort.js'

/** A page of memory (WebAssembly core specification 2.0, section 4.2.8). */
export const PAGE_BYTES = 65_536

/** All pages of the 32-bit address space. */
export const MAX_PAGES = 65_536

/** The memory of one module, as bytes and strings. */
export class ModuleMemory {
  readonly memory: WebAssembly.Memory
  readonly #maximumBytes: number
  #bytes: Buffer

  /** `heldBytes` extend the maximum. Throws `invalid` if the initial memory exceeds it. */
  constructor(minimumPages: number, maximumBytes: number, heldBytes = 0) {
    const maximum = Math.min(Math.ceil((maximumBytes + heldBytes) / PAGE_BYTES), MAX_PAGES)
    if (minimumPages * PAGE_BYTES > maximumBytes) {
      throw new AppError(
        'invalid',
        `the policy module needs ${minimumPages * PAGE_BYTES} bytes of memory before it evaluates anything, and policies.limits.maxMemoryBytes is ${maximumBytes}: raise it, or load fewer policies`,
      )
    }
    this.#maximumBytes = maximum * PAGE_BYTES
    this.memory = new WebAssembly.Memory({ initial: minimumPages, maximum })
    this.#bytes = Buffer.from(this.memory.buffer)
  }

  get byteLength(): number {
    return this.bytes.length
  }

  /** The whole memory. Growing detaches the buffer, whose length is then 0. */
  get bytes(): Buffer {
    if (this.#bytes.length === 0) this.#bytes = Buffer.from(this.memory.buffer)
    return this.#bytes
  }

  /** Writes bytes, growing the memory. Throws EvaluationAbort (over budget). */
  place(bytes: Uint8Array, address: number): void {
    this.reserve(address, bytes.length)
    this.bytes.set(bytes, address)
  }

  /** Grows the memory so that `length` bytes fit at an address. Throws as `place`. */
  reserve(address: number, length: number): void {
    const missing = address + length - this.byteLength
    if (missing <= 0) return
    try {
      this.memory.grow(Math.ceil(missing / PAGE_BYTES))
    } catch (raw) {
      throw new EvaluationAbort(`out of memory: ${toError(raw).message}`, { isOverBudget: true })
    }
  }

  /** True if the memory can grow by at least one page. */
  get canGrow(): boolean {
    return this.byteLength < this.#maximumBytes
  }

  /** Grows by `wantedBytes`, but not past `limitBytes` or the maximum. */
  growBy(wantedBytes: number, limitBytes: number): void {
    const leftBytes = Math.min(this.#maximumBytes, limitBytes) - this.byteLength
    const pages = Math.floor(Math.min(wantedBytes, leftBytes) / PAGE_BYTES)
    if (pages > 0) this.memory.grow(pages)
  }

  /** Returns the length of the zero-terminated string at an address, in bytes. */
  textLengthAt(address: number): number {
    return this.bytes.indexOf(0, address) - address
  }

  textAt(address: number, length = this.textLengthAt(address)): string {
    return this.bytes.toString('utf8', address, address + length)
  }
}
