import { createReadStream } from 'node:fs'
import { AppError } from '../errors/app-error.js'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../lib/json/scan/json-bytes.js'
import { MAX_NESTING, nestsDeeper } from '../lib/json/scan/nesting.js'
import { parseJson } from '../lib/json/text/parse-json.js'
import { isRecord } from '../lib/validation/record.js'
import type { Definition } from './definition.js'

/** Kinds of lists of the storage service. */
export type ListKind = 'applications' | 'pipelines'

/** A downloaded list. */
export interface ListFile {
  readonly kind: ListKind
  readonly path: string
  /** A longer definition makes the whole list unusable. */
  readonly maxDefinitionBytes: number
}

/**
 * Returns the number of definitions in a list. Raises `unavailable` unless it is complete and every
 * entry is an object within the limits of size and depth.
 */
export async function checkList(list: ListFile): Promise<number> {
  const splitter = new ArraySplitter(list.maxDefinitionBytes)
  let count = 0
  try {
    for await (const piece of piecesOf(list)) count += splitter.push(piece).map(parseDefinition).length
    splitter.end()
    return count
  } catch (error) {
    throw asWrongAnswer(list.kind, error)
  }
}

/** Iterates over the definitions of a checked list, so that it is never in memory as a whole. */
export async function* readList(list: ListFile): AsyncGenerator<Definition> {
  const splitter = new ArraySplitter(list.maxDefinitionBytes)
  for await (const piece of piecesOf(list)) {
    for (const json of splitter.push(piece)) yield parseDefinition(json)
  }
}

function piecesOf({ path }: ListFile): AsyncIterable<Buffer> {
  return createReadStream(path)
}

function parseDefinition(json: Buffer): Definition {
  const text = json.toString()
  if (nestsDeeper(text, MAX_NESTING)) {
    throw new AppError('invalid', `the list has an entry that is nested more than ${MAX_NESTING} levels deep`)
  }
  const value = parseJson(text)
  if (isRecord(value)) return value
  throw new AppError('invalid', 'the list has an entry that is no JSON object')
}

/** An unreadable list is not the caller's fault. */
function asWrongAnswer(kind: ListKind, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_parameter') return error
  return new AppError('unavailable', `read all ${kind}: ${error.message}; nothing was changed`, {
    code: 'orchestrator_answer_unusable',
    cause: error,
  })
}

/**
 * Splits a JSON array that arrives in pieces into its elements, so that the array is never in
 * memory as a whole. Finds the ends of elements only; the caller must validate them. Throws
 * `invalid` for anything but an array, a truncated array, or an element above the limit.
 */
export class ArraySplitter {
  private readonly maxElementBytes: number
  private state: 'before' | 'first' | 'inside' | 'after' = 'before'
  private depth = 0
  private inText = false
  private isEscaped = false
  /** The start of the current element, from earlier pieces. */
  private readonly begun: Buffer[] = []
  private begunBytes = 0

  constructor(maxElementBytes: number) {
    this.maxElementBytes = maxElementBytes
  }

  /** Returns the elements that this piece completes. They share its memory. */
  push(piece: Buffer): Buffer[] {
    const whole: Buffer[] = []
    let start = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0
      if (this.inText) this.stepInText(byte)
      else if (this.state !== 'first' && this.state !== 'inside') {
        this.stepOutside(byte)
        start = at + 1
      } else if (this.endsElement(byte)) {
        const element = this.take(piece.subarray(start, at))
        const isEmpty = this.state === 'first' && byte === CLOSE_ARRAY && isBlank(element)
        if (!isEmpty) whole.push(element)
        this.state = byte === CLOSE_ARRAY ? 'after' : 'inside'
        start = at + 1
      }
    }
    if (this.state === 'first' || this.state === 'inside') this.keep(piece.subarray(start))
    return whole
  }

  /** Call this after the last piece. */
  end(): void {
    if (this.state !== 'after') throw new AppError('invalid', 'the list is truncated')
  }

  private stepInText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) this.isEscaped = true
    else if (byte === QUOTE) this.inText = false
  }

  private stepOutside(byte: number): void {
    if (isSpace(byte)) return
    if (this.state === 'after') throw new AppError('invalid', 'something follows the list')
    if (byte !== OPEN_ARRAY) throw new AppError('invalid', 'the answer is not a list')
    this.state = 'first'
  }

  /**
   * Processes a byte outside strings. Returns whether it is the comma or bracket after an element.
   */
  private endsElement(byte: number): boolean {
    if (byte === QUOTE) this.inText = true
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.depth++
    else if (this.depth > 0) {
      if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.depth--
    } else return byte === COMMA || byte === CLOSE_ARRAY
    return false
  }

  private take(end: Buffer): Buffer {
    this.keep(end)
    const element = this.begun.length === 1 ? (this.begun[0] ?? end) : Buffer.concat(this.begun)
    this.begun.length = 0
    this.begunBytes = 0
    return element
  }

  private keep(part: Buffer): void {
    this.begunBytes += part.length
    if (this.begunBytes > this.maxElementBytes) {
      throw new AppError('invalid', `the list has an element of more than ${this.maxElementBytes} bytes`)
    }
    this.begun.push(part)
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b && byte !== 0x0c)
}
