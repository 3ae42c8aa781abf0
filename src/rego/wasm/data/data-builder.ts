import { AppError } from '../../../errors/app-error.js'
import { openDataReader } from '../reader/input-reader.js'
import type { DataReader } from '../reader/input-reader.js'
import type { DataImage } from './data-image.js'

/** Memory for the members of open containers: bytes per byte of text, minimum and maximum. */
const PENDING_PER_BYTE = 3
const MIN_PENDING_BYTES = 65_536
const MIN_TEXT_BYTES = 65_536
const MEMBER_BYTES = 12
const ADDRESSABLE_BYTES = 2 ** 32
/** The longest text in bytes: a quarter of the address space (`data/regions.ts`). */
export const LONGEST_TEXT_BYTES = 0x3fff_c000
const MAX_PENDING_BYTES = LONGEST_TEXT_BYTES

/** Builds base documents as runtime values. Equal values are stored once. */
export class DataBuilder {
  readonly #reader: DataReader
  readonly #memory: WebAssembly.Memory
  readonly #base: number
  readonly #textAt: number
  readonly #textBytes: number
  readonly #pendingBytes: number

  /** For an image at `base`; `longestText` is in bytes. Throws `invalid` if too large. */
  constructor(longestText: number, base: number) {
    const { reader, memory } = openDataReader()
    this.#reader = reader
    this.#memory = memory
    this.#base = base
    this.#textBytes = Math.max(longestText, MIN_TEXT_BYTES)
    this.#pendingBytes = Math.min(MIN_PENDING_BYTES + this.#textBytes * PENDING_PER_BYTE, MAX_PENDING_BYTES)
    this.#textAt = reader.openData(this.#textBytes, this.#pendingBytes, base) >>> 0
    if (this.#textAt === 0) throw tooLarge()
  }

  /**
   * Reads a JSON text (UTF-8). Returns the address of its value and the offset after the text and
   * white space, or undefined if it is malformed. Throws `invalid` if memory runs out.
   */
  read(text: Uint8Array): { readonly address: number; readonly end: number } | undefined {
    this.#place(text)
    const end = this.#reader.readData(text.length) >>> 0
    if (end !== 0) return { address: this.#reader.dataValue() >>> 0, end }
    if (this.#reader.ranOut() !== 0) throw tooLarge()
    return undefined
  }

  /** Builds an object of addresses of members. Throws `invalid` if memory runs out. */
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

  /** The values read so far. Reading more may detach this view. */
  get view(): Omit<DataImage, 'root'> {
    const start = this.#reader.startOfImage() >>> 0
    const length = (this.#reader.endOfImage() >>> 0) - start
    return { bytes: new Uint8Array(this.#memory.buffer, start, length), base: this.#base }
  }

  /** Returns the finished image in memory that threads can share. */
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
  return new AppError('invalid', 'the data is too large: a policy module can address at most 4 GiB')
}
