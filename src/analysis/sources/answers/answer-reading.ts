import { CollectedBytes } from '../../../lib/collected-bytes.js'
import { DocumentSplitter } from '../../../lib/json/scan/document-splitter.js'
import type { StreamedArrays } from '../../../lib/json/scan/document-splitter.js'

/** Reads an answer incrementally. */
export interface ReadAnswer<Answer> {
  readonly arrays: StreamedArrays
  /** Whether the answer is a JSON document a line, which are the elements of `arrays` then. */
  readonly isByLine?: boolean
  /** Whether the answer is text and not JSON. `end` then receives the whole text. */
  readonly isText?: boolean
  /** Is given what is left when the arrays have been taken; returns what was read. */
  readonly end: (rest: unknown) => Answer
}

/**
 * The arrays of an answer in the shape of Prometheus's API, which Loki shares: `data.result`, and
 * lists of strings next to `data`.
 */
export function queryResult(
  result: StreamedArrays,
  siblings: Readonly<Record<string, StreamedArrays>>,
): StreamedArrays {
  return { members: { data: { members: { result } }, ...siblings } }
}

/** Maximum length of the start of a page within which it is recognized as one. */
const START_BYTES = 2000

/** Reads a small answer whole. */
export function wholeAnswer(): ReadAnswer<unknown> {
  return { arrays: {}, end: (json) => json }
}

/** Reads a small text as a whole. */
export function wholeText(): ReadAnswer<string> {
  return { arrays: {}, isText: true, end: (text) => (typeof text === 'string' ? text : '') }
}

/** Collects a text as it arrives. */
class WholeText {
  readonly #bytes = new CollectedBytes()

  push(chunk: Buffer): void {
    this.#bytes.add(chunk)
  }

  end(): string {
    return this.#bytes.take().toString()
  }
}

const NEWLINE = 0x0a
const [OPENING, BETWEEN, CLOSING] = ['[', ',', ']'].map((sign) => Buffer.from(sign)) as [
  Buffer,
  Buffer,
  Buffer,
]

/**
 * Passes documents of one line each to a splitter as one array. Within a document on one line no
 * string contains a line break.
 */
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
    // Space before a document has no meaning; after its start it may be part of a string.
    const isBefore = this.#isAfterLine || !this.#hasBegun
    if (isBefore && part.every((byte) => byte <= 0x20)) return
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

type Splitter = Pick<DocumentSplitter, 'push' | 'end'>

function splitterOf({ arrays, isByLine, isText }: Omit<ReadAnswer<unknown>, 'end'>): Splitter {
  if (isText === true) return new WholeText()
  const splitter = new DocumentSplitter(arrays)
  return isByLine === true ? new LinesAsArray(splitter) : splitter
}

/** One answer while it comes. Raises as `DocumentSplitter` does. */
export class AnswerReading<Answer> {
  readonly #read: ReadAnswer<Answer>
  readonly #splitter: Splitter
  #start: Buffer = Buffer.alloc(0)

  constructor(read: ReadAnswer<Answer>) {
    this.#read = read
    this.#splitter = splitterOf(read)
  }

  /** Its first characters, for a sentence about what is no answer. */
  get start(): string {
    return this.#start.toString()
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
