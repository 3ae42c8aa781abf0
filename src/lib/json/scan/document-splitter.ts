import { AppError } from '../../../errors/app-error.js'
import * as json from './json-bytes.js'
import { COMMA } from './json-bytes.js'
import { MAX_NESTING, holdsMoreValues } from './nesting.js'
import { scanSpace } from './scan-value.js'

/**
 * Elements are parsed in batches, because thousands of calls for a few bytes each cost more than
 * the parsing.
 */
const BATCH_BYTES = 64 * 1024
const MAX_BYTES = 4 * 1024 * 1024
/** Parsed, they take up to some 20 MB. */
const MAX_VALUES = 200_000

/**
 * Bytes of a document that are parsed together: elements of arrays, or the rest of the document.
 */
class PartCollector {
  readonly #what: string
  readonly #take: ((elements: readonly unknown[]) => void) | undefined
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** Whether nothing of the current element has arrived yet. */
  #isBlank = true

  /** `what` names the part in errors, for example "an entry of its lists". */
  constructor(what: string, take?: (elements: readonly unknown[]) => void) {
    this.#what = what
    this.#take = take
  }

  keep(piece: Buffer, start: number, end: number): void {
    if (start === end) return
    if (this.#isBlank) this.#isBlank = scanSpace(piece, start) >= end
    this.#makeRoomFor(end - start)
    this.#length += piece.copy(this.#bytes, this.#length, start, end)
  }

  /** Ends an element at a comma or at the end of its array. Returns whether there was one. */
  endElement(): boolean {
    if (this.#isBlank) return false
    this.#isBlank = true
    if (this.#length >= BATCH_BYTES) this.handOver()
    else {
      this.#makeRoomFor(1)
      this.#bytes[this.#length++] = COMMA
    }
    return true
  }

  /** Hands over the collected elements. Call it between elements. */
  handOver(): void {
    const length = this.#bytes[this.#length - 1] === COMMA ? this.#length - 1 : this.#length
    this.#length = 0
    if (length > 0) this.#take?.(this.#parse(`[${this.#bytes.toString('utf8', 0, length)}]`) as unknown[])
  }

  /**
   * Parses the collected bytes as one value. Throws `invalid` for malformed JSON, `too_large` for
   * too many values.
   */
  parse(): unknown {
    return this.#parse(this.#bytes.toString('utf8', 0, this.#length))
  }

  #makeRoomFor(bytes: number): void {
    const needed = this.#length + bytes
    if (needed > MAX_BYTES) {
      throw new AppError('too_large', `${this.#what} takes more than ${MAX_BYTES} bytes`)
    }
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.min(MAX_BYTES, Math.max(2 * needed, 1024)))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  #parse(text: string): unknown {
    if (text.length > MAX_VALUES && holdsMoreValues(text, MAX_VALUES)) {
      throw new AppError('too_large', `${this.#what} takes more than ${MAX_VALUES} values`)
    }
    try {
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw new AppError('invalid', 'malformed JSON', { cause })
    }
  }
}

/** The arrays of a document that are handed over in parts, by their location. */
export interface StreamedArrays {
  /** For an object: arrays below its members, whose names must not contain escapes. */
  readonly members?: Readonly<Record<string, StreamedArrays>>
  /** For an array: receives its elements in batches, without the arrays streamed below them. */
  readonly take?: (elements: readonly unknown[]) => void
  /**
   * Hands over each element as it ends, after the arrays streamed below it. By default consecutive
   * arrays are joined.
   */
  readonly isOneByOne?: boolean
  /** For an array: arrays below its elements. */
  readonly elements?: StreamedArrays
}

/** A location in a document and its collected bytes. */
export interface StreamNode {
  readonly members: ReadonlyMap<string, StreamNode>
  readonly elements: StreamNode | undefined
  /** For an array whose elements are handed over. */
  readonly part: PartCollector | undefined
  /** Call this when `part` has collected an element. */
  readonly elementEnded: () => void
  /** Hands over everything collected here and below. */
  readonly handOverAll: () => void
}

function openNode({ members = {}, take, isOneByOne = false, elements }: StreamedArrays): StreamNode {
  const below = new Map(Object.entries(members).map(([name, arrays]) => [name, openNode(arrays)]))
  const inElements = elements && openNode(elements)
  const part = take && new PartCollector('an entry of its lists', take)
  const handOverAll = (): void => {
    for (const node of below.values()) node.handOverAll()
    inElements?.handOverAll()
    part?.handOver()
  }
  return {
    members: below,
    elements: inElements,
    part,
    elementEnded: isOneByOne ? handOverAll : () => undefined,
    handOverAll,
  }
}

/** An object or array that leads to a streamed array. */
interface Frame {
  readonly isObject: boolean
  readonly node: StreamNode
  /** The part that receives the bytes after it. */
  readonly outer: PartCollector
  /** For an object: the current member. */
  key: string
  expectsKey: boolean
  hasElements: boolean
}

/** Longer names match no streamed member. */
const MAX_KEY_BYTES = 256

/**
 * Splits a JSON document that arrives in pieces and hands over elements of some arrays as they
 * arrive, so that neither its text nor its value is in memory as a whole. Throws `invalid` for
 * malformed JSON or more than 512 levels of nesting, `too_large` for a part above the limits of
 * `PartCollector`.
 */
export class DocumentSplitter {
  readonly #root: StreamNode
  /** The document without the handed over elements. */
  readonly #rest = new PartCollector('the content outside its lists')
  readonly #frames: Frame[] = []
  #frame: Frame | undefined
  /** Nesting depth below the last frame, inside values that are not streamed. */
  #depth = 0
  #part = this.#rest
  #inText = false
  #isEscaped = false
  #isKey = false
  #key = ''

  constructor(arrays: StreamedArrays) {
    this.#root = openNode(arrays)
  }

  push(piece: Buffer): void {
    /** Start of the bytes of this piece that belong to the current part. */
    let start = 0
    let at = this.#inText ? this.#passText(piece, 0) : 0
    for (; at < piece.length; at++) {
      const byte = piece[at]
      if (byte === json.QUOTE) {
        this.#inText = true
        this.#isKey = this.#depth === 0 && this.#frame?.expectsKey === true
        at = this.#passText(piece, at + 1) - 1
      } else if (byte === json.COMMA) {
        if (this.#depth === 0 && this.#isBetween(piece, start, at)) start = at + 1
      } else if (byte === json.OPEN_OBJECT || byte === json.OPEN_ARRAY) {
        const part = this.#part
        if (this.#open(byte === json.OPEN_OBJECT)) {
          part.keep(piece, start, at + 1)
          start = at + 1
        }
      } else if (byte === json.CLOSE_OBJECT || byte === json.CLOSE_ARRAY) {
        if (this.#depth > 0) this.#depth--
        else if (this.#close(piece, start, at)) start = at
      } else if (byte === json.COLON && this.#depth === 0 && this.#frame !== undefined) {
        this.#frame.expectsKey = false
      }
    }
    this.#part.keep(piece, start, piece.length)
  }

  /** Call this after the last piece. Returns the document without the handed over elements. */
  end(): unknown {
    const rest = this.#rest.parse()
    this.#root.handOverAll()
    return rest
  }

  /** Returns the end of the string that starts or continues here, or the end of the piece. */
  #passText(piece: Buffer, from: number): number {
    const { length } = piece
    let at = from
    if (this.#isEscaped && at < length) {
      this.#isEscaped = false
      at++
    }
    for (; at < length; at++) {
      const byte = piece[at]
      if (byte === json.BACKSLASH) at++
      else if (byte === json.QUOTE) break
    }
    if (this.#isKey) this.#readKey(piece.subarray(from, at), at < length)
    // The last byte was a backslash.
    this.#isEscaped = at > length
    this.#inText = at >= length
    return Math.min(at + 1, length)
  }

  #readKey(bytes: Buffer, isWhole: boolean): void {
    if (this.#key.length <= MAX_KEY_BYTES) this.#key += bytes.toString('latin1')
    if (!isWhole) return
    if (this.#frame !== undefined) this.#frame.key = this.#key
    this.#key = ''
    this.#isKey = false
  }

  /** Processes a comma of a frame. Returns whether it ends a streamed element. */
  #isBetween(piece: Buffer, start: number, at: number): boolean {
    const frame = this.#frame
    if (frame === undefined) return false
    if (frame.isObject) frame.expectsKey = true
    const { part } = frame.node
    if (frame.isObject || part === undefined) return false
    part.keep(piece, start, at)
    if (!part.endElement()) throw malformed()
    frame.node.elementEnded()
    frame.hasElements = true
    return true
  }

  /** Processes an opening bracket. Returns whether its elements are streamed. */
  #open(isObject: boolean): boolean {
    const node = this.#depth > 0 ? undefined : this.#nodeBelow()
    if (node === undefined) {
      if (++this.#depth + this.#frames.length > MAX_NESTING) {
        throw new AppError('invalid', `JSON that is nested more than ${MAX_NESTING} levels deep`)
      }
      return false
    }
    this.#frame = { isObject, node, outer: this.#part, key: '', expectsKey: isObject, hasElements: false }
    this.#frames.push(this.#frame)
    if (isObject || node.part === undefined) return false
    this.#part = node.part
    return true
  }

  /** The streamed arrays of the value that starts here. */
  #nodeBelow(): StreamNode | undefined {
    const frame = this.#frame
    if (frame === undefined) return this.#frames.length === 0 ? this.#root : undefined
    return frame.isObject ? frame.node.members.get(frame.key) : frame.node.elements
  }

  /** Processes the closing bracket of a frame. Returns whether it ends a streamed array. */
  #close(piece: Buffer, start: number, at: number): boolean {
    const frame = this.#frames.pop()
    if (frame === undefined) throw malformed()
    if (frame.isObject !== (piece[at] === json.CLOSE_OBJECT)) throw malformed()
    this.#frame = this.#frames.at(-1)
    const { part } = frame.node
    if (frame.isObject || part === undefined) return false
    part.keep(piece, start, at)
    if (part.endElement()) frame.node.elementEnded()
    else if (frame.hasElements) throw malformed()
    this.#part = frame.outer
    return true
  }
}

function malformed(): AppError {
  return new AppError('invalid', 'malformed JSON')
}
