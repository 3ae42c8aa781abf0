import { AppError } from '../../../errors/app-error.js'
import * as json from './json-bytes.js'
import { COMMA } from './json-bytes.js'
import { MAX_NESTING, holdsMoreValues } from './nesting.js'
import { scanSpace } from './scan-value.js'

/** Many elements are parsed at once: thousands of calls for a few bytes each cost more than the parsing. */
const BATCH_BYTES = 64 * 1024
const MAX_BYTES = 4 * 1024 * 1024
/** Parsed they take some 20 MB at the worst. */
const MAX_VALUES = 200_000

/** The bytes of a document that belong together until they are parsed: elements of arrays, or what is left of the whole. */
class PartCollector {
  readonly #what: string
  readonly #take: ((elements: readonly unknown[]) => void) | undefined
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** Whether nothing of the element under way has come yet. */
  #isBlank = true

  /** `what` names it in an error: "an entry of its lists". */
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

  /** An element has ended, by a comma or with its array; returns whether there was one. */
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

  /** Has what has been kept taken; to be called between elements. */
  handOver(): void {
    const length = this.#bytes[this.#length - 1] === COMMA ? this.#length - 1 : this.#length
    this.#length = 0
    if (length > 0) this.#take?.(this.#parse(`[${this.#bytes.toString('utf8', 0, length)}]`) as unknown[])
  }

  /** What has been kept, as one value. Raises `invalid` for what is no JSON, `too_large` for too many values. */
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
      throw new AppError('invalid', 'something else than JSON', { cause })
    }
  }
}

/** Which arrays of a document are handed over in parts, by where they stand. */
export interface StreamedArrays {
  /** Of an object: those below its members, whose names are written without escapes. */
  readonly members?: Readonly<Record<string, StreamedArrays>>
  /** Of an array: takes its elements, some together, each with what is streamed below it left out of it. */
  readonly take?: (elements: readonly unknown[]) => void
  /** Hands over each element when it ends, after all that is streamed below it; else arrays that follow each other are joined. */
  readonly isOneByOne?: boolean
  /** Of an array: those below its elements. */
  readonly elements?: StreamedArrays
}

/** A place of a document, ready to gather what is there. */
export interface Place {
  readonly members: ReadonlyMap<string, Place>
  readonly elements: Place | undefined
  /** Of an array whose elements are handed over. */
  readonly part: PartCollector | undefined
  /** An element has been kept by `part`. */
  readonly elementEnded: () => void
  /** Hands over all that has been kept here and below. */
  readonly handOverAll: () => void
}

function openPlace({ members = {}, take, isOneByOne = false, elements }: StreamedArrays): Place {
  const below = new Map(Object.entries(members).map(([name, arrays]) => [name, openPlace(arrays)]))
  const inElements = elements && openPlace(elements)
  const part = take && new PartCollector('an entry of its lists', take)
  const handOverAll = (): void => {
    for (const place of below.values()) place.handOverAll()
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

/** An object or array on the way to something that is streamed. */
interface Frame {
  readonly isObject: boolean
  readonly place: Place
  /** Where bytes belong behind it. */
  readonly outer: PartCollector
  /** Of an object: the member under way. */
  key: string
  expectsKey: boolean
  hasElements: boolean
}

/** A longer name is none that anybody looks for. */
const MAX_KEY_BYTES = 256

/**
 * Takes a JSON document in pieces, cut anywhere, and hands over the elements of some of its arrays as they come, so that neither
 * its text nor its value is ever whole in memory. Raises `invalid` for what is no JSON or is nested more than 512 levels deep,
 * and `too_large` for a part above the limits of `PartCollector`.
 */
export class DocumentSplitter {
  readonly #root: Place
  /** The document without what is handed over. */
  readonly #rest = new PartCollector('what it holds beside its lists')
  readonly #frames: Frame[] = []
  /** The last of them. */
  #frame: Frame | undefined
  /** How deep inside of what nobody streams, below the last frame. */
  #depth = 0
  #part = this.#rest
  #inText = false
  #isEscaped = false
  #isKey = false
  #key = ''

  constructor(arrays: StreamedArrays) {
    this.#root = openPlace(arrays)
  }

  push(piece: Buffer): void {
    /** From here on the piece belongs to the current part. */
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

  /** To be called after the last piece; returns the document, in which what was handed over is left out. */
  end(): unknown {
    const rest = this.#rest.parse()
    this.#root.handOverAll()
    return rest
  }

  /** Returns where the text ends that begins or goes on here, or the end of the piece. */
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
    // A backslash was the last byte.
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

  /** Follows a comma of a frame; whether it ends an element that is handed over. */
  #isBetween(piece: Buffer, start: number, at: number): boolean {
    const frame = this.#frame
    if (frame === undefined) return false
    if (frame.isObject) frame.expectsKey = true
    const { part } = frame.place
    if (frame.isObject || part === undefined) return false
    part.keep(piece, start, at)
    if (!part.endElement()) throw malformed()
    frame.place.elementEnded()
    frame.hasElements = true
    return true
  }

  /** Follows an opening bracket; whether the elements of what it opens are handed over. */
  #open(isObject: boolean): boolean {
    const place = this.#depth > 0 ? undefined : this.#placeBelow()
    if (place === undefined) {
      if (++this.#depth + this.#frames.length > MAX_NESTING) {
        throw new AppError('invalid', `JSON that is nested more than ${MAX_NESTING} levels deep`)
      }
      return false
    }
    this.#frame = { isObject, place, outer: this.#part, key: '', expectsKey: isObject, hasElements: false }
    this.#frames.push(this.#frame)
    if (isObject || place.part === undefined) return false
    this.#part = place.part
    return true
  }

  /** What is streamed of the value that begins here. */
  #placeBelow(): Place | undefined {
    const frame = this.#frame
    if (frame === undefined) return this.#frames.length === 0 ? this.#root : undefined
    return frame.isObject ? frame.place.members.get(frame.key) : frame.place.elements
  }

  /** Follows the closing bracket of a frame; whether it ends an array whose elements are handed over. */
  #close(piece: Buffer, start: number, at: number): boolean {
    const frame = this.#frames.pop()
    if (frame === undefined) throw malformed()
    if (frame.isObject !== (piece[at] === json.CLOSE_OBJECT)) throw malformed()
    this.#frame = this.#frames.at(-1)
    const { part } = frame.place
    if (frame.isObject || part === undefined) return false
    part.keep(piece, start, at)
    if (part.endElement()) frame.place.elementEnded()
    else if (frame.hasElements) throw malformed()
    this.#part = frame.outer
    return true
  }
}

function malformed(): AppError {
  return new AppError('invalid', 'something else than JSON')
}
