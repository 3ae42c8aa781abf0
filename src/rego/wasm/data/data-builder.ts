import { AppError } from '../../../errors/app-error.js'
import { openDataReader } from '../reader/input-reader.js'
import type { DataReader } from '../reader/input-reader.js'
import type { DataImage } from './data-image.js'

/** What containers that are open may hold before they are closed, for a byte of text, and at least and at most. */
const PENDING_PER_BYTE = 3
const LEAST_PENDING_BYTES = 65_536
const LEAST_TEXT_BYTES = 65_536
const MEMBER_BYTES = 12
const ADDRESSABLE_BYTES = 2 ** 32
/** The most that there is room for, a quarter of what is addressable (`assembly/data/regions.ts`). */
export const LONGEST_TEXT_BYTES = 0x3fff_c000
const MOST_PENDING_BYTES = LONGEST_TEXT_BYTES

/** Builds base documents as the values of a module's runtime, one after the other in one memory; equal values are one. */
export class DataBuilder {
  readonly #reader: DataReader
  readonly #memory: WebAssembly.Memory
  readonly #base: number
  readonly #textAt: number
  readonly #textBytes: number
  readonly #pendingBytes: number

  /** For an image at the address `base`, of texts of which the longest has so many bytes. Raises `invalid` where that is too much. */
  constructor(longestText: number, base: number) {
    const { reader, memory } = openDataReader()
    this.#reader = reader
    this.#memory = memory
    this.#base = base
    this.#textBytes = Math.max(longestText, LEAST_TEXT_BYTES)
    this.#pendingBytes = Math.min(
      LEAST_PENDING_BYTES + this.#textBytes * PENDING_PER_BYTE,
      MOST_PENDING_BYTES,
    )
    this.#textAt = reader.openData(this.#textBytes, this.#pendingBytes, base) >>> 0
    if (this.#textAt === 0) throw tooLarge()
  }

  /**
   * The address of the value of a JSON text (UTF-8), and the offset behind it and white space. Undefined where it is malformed.
   * Raises `invalid` where the memory does not suffice.
   */
  read(text: Uint8Array): { readonly address: number; readonly end: number } | undefined {
    this.#place(text)
    const end = this.#reader.readData(text.length) >>> 0
    if (end !== 0) return { address: this.#reader.dataValue() >>> 0, end }
    if (this.#reader.ranOut() !== 0) throw tooLarge()
    return undefined
  }

  /** The address of an object of members that were read before. Raises as `read`. */
  object(members: ReadonlyMap<string, number>): number {
    const notes = new Uint32Array(members.size * 3)
    let next = 0
    for (const [key, value] of members) {
      const text = Buffer.from(key)
      this.#place(text)
      notes.set([this.#reader.makeText(text.length), this.#reader.hashOfText(), value], next)
      next += 3
    }
    const at = this.#reader.membersAt() >>> 0
    if (members.size * MEMBER_BYTES > this.#pendingBytes) throw tooLarge()
    new Uint32Array(this.#memory.buffer, at, notes.length).set(notes)
    const address = this.#reader.makeObject(members.size) >>> 0
    if (address === 0) throw tooLarge()
    return address
  }

  /** The values as they are now: what is read further may make this view useless. */
  get view(): Omit<DataImage, 'root'> {
    const start = this.#reader.startOfImage() >>> 0
    const length = (this.#reader.endOfImage() >>> 0) - start
    return { bytes: new Uint8Array(this.#memory.buffer, start, length), base: this.#base }
  }

  /** The image for good, in memory that threads share. */
  finish(root: number): DataImage {
    const { bytes, base } = this.view
    if (base + bytes.length > ADDRESSABLE_BYTES) throw tooLarge()
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return { bytes: shared, base, root }
  }

  #place(text: Uint8Array): void {
    if (text.length > this.#textBytes) throw tooLarge()
    new Uint8Array(this.#memory.buffer, this.#textAt, text.length).set(text)
  }
}

function tooLarge(): AppError {
  return new AppError(
    'invalid',
    'the data is too large to be held: 4 GiB are the most that a policy module can address',
  )
}
