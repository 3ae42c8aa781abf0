import { DocumentSplitter } from '../../../lib/json/scan/document-splitter.js'
import type { StreamedArrays } from '../../../lib/json/scan/streamed-arrays.js'
import { shorten } from './describe-refusal.js'

/** What makes something of an answer while it comes. */
export interface ReadAnswer<Answer> {
  readonly arrays: StreamedArrays
  /** Whether the answer is a JSON document a line, which are the elements of `arrays` then. */
  readonly isByLine?: boolean
  /** Is given what is left when the arrays have been taken; returns what was read. */
  readonly end: (rest: unknown) => Answer
}

/** The arrays of an answer in the shape of Prometheus's API, which Loki shares: `data.result`, and lists of texts beside `data`. */
export function queryResult(
  result: StreamedArrays,
  beside: Readonly<Record<string, StreamedArrays>>,
): StreamedArrays {
  return { members: { data: { members: { result } }, ...beside } }
}

const START_BYTES = 200

/** Reads a small answer whole. */
export function wholeAnswer(): ReadAnswer<unknown> {
  return { arrays: {}, end: (json) => json }
}

const NEWLINE = 0x0a
const [OPENING, BETWEEN, CLOSING] = ['[', ',', ']'].map((sign) => Buffer.from(sign)) as [
  Buffer,
  Buffer,
  Buffer,
]

/** Hands documents that stand a line each to a splitter as one array: within a document of one line no text holds a line break. */
class LinesAsArray {
  readonly #splitter: DocumentSplitter
  #isAfterLine = false
  #hasBegun = false

  constructor(splitter: DocumentSplitter) {
    this.#splitter = splitter
    splitter.push(OPENING)
  }

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start)
      const end = newline === -1 ? chunk.length : newline
      this.#pushPart(chunk.subarray(start, end))
      if (newline !== -1) this.#isAfterLine = this.#hasBegun
      start = end + 1
    }
  }

  #pushPart(part: Buffer): void {
    if (part.every((byte) => byte <= 0x20)) return
    if (this.#isAfterLine) this.#splitter.push(BETWEEN)
    this.#isAfterLine = false
    this.#hasBegun = true
    this.#splitter.push(part)
  }

  end(): unknown {
    this.#splitter.push(CLOSING)
    return this.#splitter.end()
  }
}

/** One answer while it comes. Raises as `DocumentSplitter` does. */
export class AnswerReading<Answer> {
  readonly #read: ReadAnswer<Answer>
  readonly #splitter: Pick<DocumentSplitter, 'push' | 'end'>
  #start: Buffer = Buffer.alloc(0)

  constructor(read: ReadAnswer<Answer>) {
    this.#read = read
    const splitter = new DocumentSplitter(read.arrays)
    this.#splitter = read.isByLine === true ? new LinesAsArray(splitter) : splitter
  }

  /** Its first characters, for a sentence about what is no answer. */
  get start(): string {
    return shorten(this.#start.toString())
  }

  push(chunk: Buffer): void {
    if (this.#start.length < START_BYTES) {
      this.#start = Buffer.concat([this.#start, chunk.subarray(0, START_BYTES - this.#start.length)])
    }
    this.#splitter.push(chunk)
  }

  end(): Answer {
    return this.#read.end(this.#splitter.end())
  }
}
