import { copyCanonicalString } from './canonical-string.js'
import { EditedCopy } from './edited-copy.js'
import { MemberOrder } from './member-order.js'
import { scanSpace } from './scan-space.js'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export interface CanonicalOptions {
  /** Two spaces per level and one after a colon, as Go's `SetIndent("", "  ")`, instead of no white space. */
  readonly pretty?: boolean
}

/**
 * The valid JSON value from `start` to `end` as OPA's answers write it: keys in bytewise order, the last of a repeated key alone,
 * strings escaped as in Go's encoding/json, number texts kept. Shares memory with `bytes` when they are canonical already.
 */
export function canonicalJson(
  bytes: Uint8Array,
  start: number,
  end: number,
  options: CanonicalOptions = {},
): Buffer {
  return new CanonicalWriter(bytes, start, options.pretty ?? false).write(start, end)
}

class CanonicalWriter {
  private readonly bytes: Uint8Array
  private readonly pretty: boolean
  private readonly copy: EditedCopy
  private readonly order: MemberOrder
  private readonly closers: number[] = []
  private awaitsKey = false

  constructor(bytes: Uint8Array, start: number, pretty: boolean) {
    this.bytes = bytes
    this.pretty = pretty
    this.copy = new EditedCopy(bytes, start)
    this.order = new MemberOrder(bytes)
  }

  write(start: number, end: number): Buffer {
    for (let at = start; at < end;) at = this.copyToken(at, end)
    return this.copy.finish(end)
  }

  private copyToken(at: number, end: number): number {
    const byte = this.bytes[at] ?? 0
    if (byte === QUOTE) return this.copyString(at, end)
    if (byte === COMMA) return this.endMember(at)
    if (byte === COLON) return this.pretty ? this.insert(at + 1, ' ') : at + 1
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return this.open(at, byte)
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) return this.close(at)
    if (byte <= SPACE) this.copy.replace(at, at + 1, 0)
    return at + 1
  }

  private copyString(at: number, end: number): number {
    if (this.awaitsKey) this.order.addMember(at, this.copy.position(at))
    this.awaitsKey = false
    return copyCanonicalString(this.bytes, at, end, this.copy)
  }

  private open(at: number, opener: number): number {
    const closer = opener + 2
    const next = scanSpace(this.bytes, at + 1)
    if (next > at + 1) this.copy.replace(at + 1, next, 0)
    if (this.bytes[next] === closer) return next + 1
    this.closers.push(closer)
    this.awaitsKey = closer === CLOSE_OBJECT
    if (this.awaitsKey) this.order.openObject()
    return this.insert(next, this.lineBreak())
  }

  private endMember(comma: number): number {
    this.awaitsKey = this.closers.at(-1) === CLOSE_OBJECT
    return this.insert(comma + 1, this.lineBreak())
  }

  private close(at: number): number {
    const separator = `,${this.lineBreak()}`
    if (this.closers.pop() === CLOSE_OBJECT) {
      const sorted = this.order.closeObject(this.copy.position(at), separator.length)
      if (sorted !== undefined) this.copy.rearrange(at, sorted, separator)
    }
    return this.insert(at, this.lineBreak()) + 1
  }

  private lineBreak(): string {
    return this.pretty ? `\n${'  '.repeat(this.closers.length)}` : ''
  }

  /** Adds ASCII text before the source byte at `at` and gives `at`. */
  private insert(at: number, text: string): number {
    if (text !== '') this.copy.insert(at, text)
    return at
  }
}
