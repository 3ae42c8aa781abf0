import { OPEN_ARRAY } from '../../lib/json/scan/json-bytes.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { decodeString } from '../../lib/json/scan/decode-string.js'
import { readMembers, scanElements } from '../../lib/json/scan/scan-members.js'

/** A value of a JSON or YAML file, for locating it. */
export interface SourceNode {
  /** Offset in the file's text: in bytes for JSON, in UTF-16 units for YAML. */
  readonly offset: number
  /** Returns a member of an object, the last of a repeated key; otherwise undefined. */
  member(name: string): SourceNode | undefined
  /** Returns the elements of an array; none of anything else. */
  elements(): readonly SourceNode[]
  /** Returns a string, or a number as written; undefined for other values. */
  text(): string | undefined
}

/** A location in a file. Both count from 1, the column in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Converts offsets of a text to positions, in one pass for ascending offsets. */
export class Positions {
  readonly #slice: (from: number, to: number) => string
  #offset = 0
  #position: Position = { line: 1, column: 1 }

  /** `slice` returns a part of the text by offsets. */
  constructor(slice: (from: number, to: number) => string) {
    this.#slice = slice
  }

  at(offset: number): Position {
    if (offset < this.#offset) [this.#offset, this.#position] = [0, { line: 1, column: 1 }]
    const lines = this.#slice(this.#offset, offset).split('\n')
    const length = lines.at(-1)?.length ?? 0
    const { line, column } = this.#position
    this.#position =
      lines.length === 1
        ? { line, column: column + length }
        : { line: line + lines.length - 1, column: length + 1 }
    this.#offset = offset
    return this.#position
  }
}

/** A document with its location in the file. */
export interface SourceDocument {
  readonly json: Uint8Array
  readonly source: SourceNode
}

/** The documents of a file: one of JSON, any number of YAML. */
export interface SourceFile {
  readonly documents: readonly SourceDocument[]
  /** Converts offsets of the documents' nodes. */
  readonly positions: Positions
}

const QUOTE = 0x22
const NUMBER = /^-?\d/

/** A value of a well-formed JSON text. */
export class JsonNode implements SourceNode {
  readonly #bytes: Uint8Array
  readonly #extent: Extent
  #members: ReadonlyMap<string, Extent> | undefined

  constructor(bytes: Uint8Array, extent: Extent) {
    this.#bytes = bytes
    this.#extent = extent
  }

  get offset(): number {
    return this.#extent.start
  }

  member(name: string): SourceNode | undefined {
    this.#members ??= readMembers(this.#bytes, this.offset) ?? new Map<string, Extent>()
    const extent = this.#members.get(name)
    return extent === undefined ? undefined : new JsonNode(this.#bytes, extent)
  }

  elements(): readonly SourceNode[] {
    if (this.#bytes[this.offset] !== OPEN_ARRAY) return []
    const elements: SourceNode[] = []
    scanElements(this.#bytes, this.offset, (_index, start, end) =>
      elements.push(new JsonNode(this.#bytes, { start, end })),
    )
    return elements
  }

  text(): string | undefined {
    const { start, end } = this.#extent
    if (this.#bytes[start] === QUOTE) return Buffer.from(decodeString(this.#bytes, start, end)).toString()
    const text = Buffer.from(this.#bytes.subarray(start, end)).toString()
    return NUMBER.test(text) ? text : undefined
  }
}
