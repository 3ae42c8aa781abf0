import { AppError } from '../../../errors/app-error.js'

/** Reader of the WebAssembly binary format. Throws `invalid` past the end. */
export class BinaryReader {
  readonly bytes: Uint8Array
  at: number
  readonly end: number

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  get done(): boolean {
    return this.at >= this.end
  }

  byte(): number {
    const value = this.bytes[this.at++]
    if (value === undefined || this.at > this.end)
      throw new AppError('invalid', 'the WebAssembly module is truncated')
    return value
  }

  /** An unsigned LEB128 integer of up to 32 bits. */
  unsigned(): number {
    let result = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte()
      result += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return result
    }
  }

  /** A signed LEB128 integer of up to 32 bits. */
  signed(): number {
    let result = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte()
      if (shift < 32) result |= (byte & 0x7f) << shift
      if (byte < 0x80) return shift < 25 && (byte & 0x40) !== 0 ? result | (-1 << (shift + 7)) : result
    }
  }

  /** Steps over a LEB128 integer of any width. */
  skipInteger(): void {
    const { bytes } = this
    let { at } = this
    while ((bytes[at++] ?? 0) >= 0x80);
    this.skip(at - this.at)
  }

  skip(count: number): void {
    this.at += count
    if (this.at > this.end) throw new AppError('invalid', 'the WebAssembly module is truncated')
  }

  /** Steps over a length-prefixed name or byte vector. */
  skipVector(): void {
    this.skip(this.unsigned())
  }

  /** A length-prefixed name. */
  text(): string {
    const length = this.unsigned()
    const start = this.at
    this.skip(length)
    const { buffer, byteOffset } = this.bytes
    return Buffer.from(buffer, byteOffset + start, length).toString('utf8')
  }

  /** Skips the declarations of local variables at the start of a function body. */
  skipLocals(): void {
    for (let groups = this.unsigned(); groups > 0; groups--) {
      this.skipInteger()
      this.skip(1)
    }
  }

  /** Returns a reader over the next `length` bytes and skips them in this one. */
  slice(length: number): BinaryReader {
    const start = this.at
    this.skip(length)
    return new BinaryReader(this.bytes, start, this.at)
  }
}

export function encodeUnsigned(value: number): number[] {
  const out: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...out, rest]
    out.push((rest % 128) + 128)
  }
}
