import {
  byteTable,
  skipRun,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  BACKSLASH,
} from '../scan/json-bytes.js'
import { EditedCopy } from './edited-copy.js'
import { MemberOrder, rearrange } from './member-order.js'
import { scanSpace } from '../scan/scan-value.js'
import { decodeUnit, writeUtf8 } from '../scan/decode-string.js'

const LOWER_U = 0x75
const SLASH = 0x2f
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

/** Maximum length of one written character: a hexadecimal escape. */
const MAX_WRITTEN = 6

/** 1 for bytes that are never escaped inside a string by Go's encoding/json. */
const PLAIN = byteTable((byte, char) => byte >= 0x20 && byte < 0x80 && !'"\\<>&'.includes(char))

/** The letter of the short escape of a byte, otherwise 0. */
const SHORT_ESCAPES = new Uint8Array(256)
for (const [letter, byte] of Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13, '"': 34, '\\': 92 })) {
  SHORT_ESCAPES[byte] = letter.charCodeAt(0)
}

const HEX = Buffer.from('0123456789abcdef')

/**
 * Copies the string literal that opens at `open`, with the escapes of Go's encoding/json. Returns
 * the offset after it in the source.
 */
function copyCanonicalString(bytes: Uint8Array, open: number, end: number, copy: EditedCopy): number {
  let at = skipRun(bytes, open + 1, PLAIN)
  while (at < end && bytes[at] !== QUOTE) at = skipRun(bytes, copyCharacter(bytes, at, end, copy), PLAIN)
  return at + 1
}

function copyCharacter(bytes: Uint8Array, at: number, end: number, copy: EditedCopy): number {
  const letter = bytes[at] === BACKSLASH ? bytes[at + 1] : undefined
  if (letter !== undefined && letter !== LOWER_U && letter !== SLASH) return at + 2
  const unit = decodeUnit(bytes, at, end)
  const size = unit & 15
  const point = unit >> 4
  const kept =
    letter === undefined
      ? size > 1 && isPlain(point)
      : letter === LOWER_U && isCanonicalHexEscape(bytes, at, point)
  if (kept) return at + size
  const out = copy.beginEdit(at, at + size, MAX_WRITTEN)
  copy.endEdit(writeCharacter(out, copy.editStart, point))
  return at + size
}

/**
 * Whether `point` is written exactly as the six bytes at `at`. Only the last digit can be a letter.
 */
function isCanonicalHexEscape(bytes: Uint8Array, at: number, point: number): boolean {
  const upperCase = ((bytes[at + 5] ?? 0) & 0x60) === 0x40
  return !upperCase && !isPlain(point) && (SHORT_ESCAPES[point] ?? 0) === 0
}

function isPlain(point: number): boolean {
  return point < 0x80 ? PLAIN[point] === 1 : point !== LINE_SEPARATOR && point !== PARAGRAPH_SEPARATOR
}

function writeCharacter(out: Uint8Array, at: number, point: number): number {
  const letter = SHORT_ESCAPES[point] ?? 0
  if (letter !== 0) {
    out[at] = BACKSLASH
    out[at + 1] = letter
    return at + 2
  }
  return isPlain(point) ? writeUtf8(out, at, point) : writeHexEscape(out, at, point)
}

function writeHexEscape(out: Uint8Array, at: number, point: number): number {
  out[at] = BACKSLASH
  out[at + 1] = LOWER_U
  for (let i = 0; i < 4; i++) out[at + 2 + i] = HEX[(point >> (12 - 4 * i)) & 15] ?? 0
  return at + 6
}

const SPACE = 0x20

/** Bytes of numbers and literals. */
const SCALAR = byteTable((_, char) => /[-+.0-9A-Za-z]/.test(char))

interface CanonicalOptions {
  /** Indents as Go's `SetIndent("", " ")`. The default is no white space. */
  readonly pretty?: boolean
}

/**
 * Writes the valid JSON value from `start` to `end` as OPA does: keys in byte order, the last of a
 * repeated key only, strings escaped as in Go's encoding/json, number texts unchanged. Shares
 * memory with `bytes` if they are canonical already.
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
    // Guarantees progress on invalid JSON, whose output is arbitrary.
    for (let at = start; at < end;) at = Math.max(at + 1, this.copyToken(at, end))
    const copied = this.copy.finish(end)
    return this.order.rearrangements.length === 0 ? copied : rearrange(copied, this.order.rearrangements)
  }

  private copyToken(at: number, end: number): number {
    const byte = this.bytes[at] ?? 0
    if (byte === QUOTE) return this.copyString(at, end)
    if (byte === COMMA) return this.endMember(at)
    if (byte === COLON) return this.pretty ? this.addSpace(at + 1) : at + 1
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return this.open(at, byte)
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) return this.close(at)
    if (byte <= SPACE) return this.dropSpace(at)
    return skipRun(this.bytes, at, SCALAR)
  }

  private copyString(at: number, end: number): number {
    if (this.awaitsKey) this.order.addMember(at, this.copy.position(at))
    this.awaitsKey = false
    return copyCanonicalString(this.bytes, at, end, this.copy)
  }

  private dropSpace(at: number): number {
    const next = scanSpace(this.bytes, at)
    if (next > at) this.copy.drop(at, next)
    return next
  }

  private open(at: number, opener: number): number {
    const closer = opener + 2
    const next = this.dropSpace(at + 1)
    if (this.bytes[next] === closer) return next + 1
    this.closers.push(closer)
    this.awaitsKey = closer === CLOSE_OBJECT
    if (this.awaitsKey) this.order.openObject()
    this.breakLine(next)
    return next
  }

  private endMember(comma: number): number {
    this.awaitsKey = this.closers.at(-1) === CLOSE_OBJECT
    this.breakLine(comma + 1)
    return comma + 1
  }

  private close(at: number): number {
    // Computed before `pop`, because members are one level deeper than the closing bracket.
    const gap = this.pretty ? 2 + this.indent() : 1
    if (this.closers.pop() === CLOSE_OBJECT) this.order.closeObject(this.copy.position(at), gap)
    this.breakLine(at)
    return at + 1
  }

  private breakLine(at: number): void {
    if (this.pretty) this.copy.breakLine(at, this.indent())
  }

  private indent(): number {
    return 2 * this.closers.length
  }

  private addSpace(at: number): number {
    const out = this.copy.beginEdit(at, at, 1)
    out[this.copy.editStart] = SPACE
    this.copy.endEdit(this.copy.editStart + 1)
    return at
  }
}
