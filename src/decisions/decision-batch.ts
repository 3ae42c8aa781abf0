import type { DecisionEntry } from './decision-log.js'
import { findExecutionId } from './entry/find-execution-id.js'

/**
 * Decisions in three parts that cross a thread cheaply: `cells` and `bytes` are transferred, and
 * `texts` has each repeated text once. Read rows with `batchRow`.
 */
export interface DecisionBatch {
  readonly rowCount: number
  readonly cells: Float64Array<ArrayBuffer>
  readonly texts: readonly string[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Highest copied sizes of a decision. */
export interface CopyBounds {
  readonly inputBytes: number
  readonly resultBytes: number
}

/** A decision in a batch. `inputBytes` and `resultBytes` are the sizes before cutting. */
export interface BatchRow {
  readonly decisionId: string
  readonly timeMs: number
  readonly kind: string
  readonly path: string
  readonly revision: string
  readonly outcome: string
  readonly application: string | null
  /** The input's execution, only if the input was cut. Otherwise it is found in the copy. */
  readonly executionId: string | null
  readonly caller: string | null
  readonly durationNs: number
  readonly requestId: string | null
  readonly traceId: string | null
  readonly error: string | null
  readonly inputBytes: number | null
  readonly input: Uint8Array | null
  readonly resultBytes: number | null
  readonly result: Uint8Array | null
  readonly ndBuiltinCache: Uint8Array | null
  readonly packages: Uint8Array | null
}

const CELLS_PER_ROW = 25
const CALLS_CELL = 18
/** Cell of the packages, which are copied last: start of their bytes, followed by the length. */
const LAST_COPY_CELL = 21
const ABSENT = -1
const MAX_TEXT_LENGTH = 1024

/** Fills one batch. Its capacity is fixed, so that adding a decision allocates almost nothing. */
export class DecisionBatchBuilder {
  readonly #cells: Float64Array<ArrayBuffer>
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #maxRows: number
  readonly #texts: string[] = []
  readonly #textIndexes = new Map<string, number>()
  #rows = 0
  #bytesUsed = 0
  #textLength = 0

  /** `memory` receives the copied bytes and becomes part of the batch. */
  constructor(maxRows: number, memory: Uint8Array<ArrayBuffer>) {
    this.#maxRows = maxRows
    this.#cells = new Float64Array(maxRows * CELLS_PER_ROW)
    this.#bytes = memory
  }

  get rowCount(): number {
    return this.#rows
  }

  /** Memory of the rows so far, in bytes. */
  get heldBytes(): number {
    return this.#bytesUsed + this.#textLength + this.#rows * CELLS_PER_ROW * 8
  }

  /** Whether a decision with this many copied bytes fits. */
  hasCapacity(copiedBytes: number): boolean {
    return this.#rows < this.#maxRows && this.#bytesUsed + copiedBytes <= this.#bytes.length
  }

  /** Copies an entry. Call `hasCapacity` first. */
  append(entry: DecisionEntry, bounds: CopyBounds): void {
    const cells = this.#cells
    const at = this.#rows * CELLS_PER_ROW
    cells[at] = entry.timeMs
    cells[at + 1] = entry.durationNs
    cells[at + 2] = this.#addText(entry.decisionId)
    cells[at + 3] = this.#internText(entry.kind)
    cells[at + 4] = this.#internText(entry.path)
    cells[at + 5] = this.#internText(entry.revision)
    cells[at + 6] = this.#internText(entry.outcome)
    cells[at + 7] = this.#internText(entry.application)
    cells[at + 8] = this.#internText(entry.caller)
    cells[at + 9] = this.#addText(entry.requestId)
    cells[at + 10] = this.#addText(entry.error)
    cells[at + 24] = this.#addText(entry.traceId)
    this.#copyBytes(at + 11, entry.input, bounds.inputBytes)
    this.#copyBytes(at + 14, entry.result, bounds.resultBytes)
    this.#copyBytes(at + CALLS_CELL, entry.ndBuiltinCache, Infinity)
    this.#copyBytes(at + LAST_COPY_CELL, entry.packages, Infinity)
    const isCut = entry.input !== undefined && entry.input.length > bounds.inputBytes
    cells[at + 17] = this.#addText(isCut ? findExecutionId(entry.input) : undefined)
    this.#rows += 1
  }

  /** Returns the batch. The builder must not be used afterwards. */
  build(): DecisionBatch {
    return { rowCount: this.#rows, cells: this.#cells, texts: this.#texts, bytes: this.#bytes }
  }

  #copyBytes(at: number, source: Uint8Array | undefined, bound: number): void {
    const kept = copiedLength(source, bound)
    this.#cells[at] = this.#bytesUsed
    this.#cells[at + 1] = kept
    this.#cells[at + 2] = source?.length ?? ABSENT
    if (source === undefined) return
    this.#bytes.set(kept === source.length ? source : source.subarray(0, kept), this.#bytesUsed)
    this.#bytesUsed += kept
  }

  #internText(text: string | undefined): number {
    if (text === undefined) return ABSENT
    const known = this.#textIndexes.get(text)
    if (known !== undefined) return known
    const index = this.#addText(text)
    this.#textIndexes.set(text, index)
    return index
  }

  #addText(text: string | undefined): number {
    if (text === undefined) return ABSENT
    const kept = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text
    this.#textLength += kept.length
    return this.#texts.push(kept) - 1
  }
}

/** Returns a view of a batch without its unused memory. */
export function usedPart({ rowCount, cells, texts, bytes }: DecisionBatch): DecisionBatch {
  const last = (rowCount - 1) * CELLS_PER_ROW + LAST_COPY_CELL
  const usedBytes = rowCount === 0 ? 0 : (cells[last] ?? 0) + (cells[last + 1] ?? 0)
  return {
    rowCount,
    cells: cells.subarray(0, rowCount * CELLS_PER_ROW),
    texts,
    bytes: bytes.subarray(0, usedBytes),
  }
}

/** Number of bytes of `source` copied under `bound`. */
export function copiedLength(source: Uint8Array | undefined, bound: number): number {
  return source === undefined ? 0 : Math.min(source.length, bound)
}

/** Returns the decision at `index`. Its bytes are views of the batch. */
export function batchRow(batch: DecisionBatch, index: number): BatchRow {
  const at = index * CELLS_PER_ROW
  return {
    timeMs: cell(batch, at),
    durationNs: cell(batch, at + 1),
    decisionId: textCell(batch, at + 2) ?? '',
    kind: textCell(batch, at + 3) ?? '',
    path: textCell(batch, at + 4) ?? '',
    revision: textCell(batch, at + 5) ?? '',
    outcome: textCell(batch, at + 6) ?? '',
    application: textCell(batch, at + 7),
    caller: textCell(batch, at + 8),
    requestId: textCell(batch, at + 9),
    error: textCell(batch, at + 10),
    traceId: textCell(batch, at + 24),
    input: bytesCell(batch, at + 11),
    inputBytes: sizeCell(batch, at + 13),
    result: bytesCell(batch, at + 14),
    resultBytes: sizeCell(batch, at + 16),
    executionId: textCell(batch, at + 17),
    ndBuiltinCache: bytesCell(batch, at + CALLS_CELL),
    packages: bytesCell(batch, at + LAST_COPY_CELL),
  }
}

function cell(batch: DecisionBatch, at: number): number {
  return batch.cells[at] ?? ABSENT
}

function textCell(batch: DecisionBatch, at: number): string | null {
  return batch.texts[cell(batch, at)] ?? null
}

function sizeCell(batch: DecisionBatch, at: number): number | null {
  const size = cell(batch, at)
  return size === ABSENT ? null : size
}

function bytesCell(batch: DecisionBatch, at: number): Uint8Array | null {
  if (cell(batch, at + 2) === ABSENT) return null
  const start = cell(batch, at)
  return batch.bytes.subarray(start, start + cell(batch, at + 1))
}
