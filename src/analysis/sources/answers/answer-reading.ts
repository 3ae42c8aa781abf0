import { DocumentSplitter } from '../../../lib/json/scan/document-splitter.js'
import type { StreamedArrays } from '../../../lib/json/scan/streamed-arrays.js'
import { shorten } from './describe-refusal.js'

/** What makes something of an answer while it comes. */
export interface ReadAnswer<Answer> {
  readonly arrays: StreamedArrays
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

/** One answer while it comes. Raises as `DocumentSplitter` does. */
export class AnswerReading<Answer> {
  readonly #read: ReadAnswer<Answer>
  readonly #splitter: DocumentSplitter
  #start: Buffer = Buffer.alloc(0)

  constructor(read: ReadAnswer<Answer>) {
    this.#read = read
    this.#splitter = new DocumentSplitter(read.arrays)
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
