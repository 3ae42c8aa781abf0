import { toError } from '../errors/app-error.js'
import { copiedLength, DecisionBatchBuilder } from './decision-batch.js'
import type { CopyBounds, DecisionBatch } from './decision-batch.js'
import { isReportable } from './decision-report.js'
import type { DecisionReport, ReportedDecisions } from './decision-report.js'
import type { DecisionBatchWriter } from './keep-decisions.js'
import { findExecutionId } from './entry/find-execution-id.js'
import { NOTHING_DROPPED } from './decision-log.js'
import type { DecisionEntry, DecisionLog, DecisionLogStats, DropReason, GivesWay } from './decision-log.js'

/** Bytes for the number of omitted packages. */
const REST_BYTES = 40

/** Limits of the log's memory and delay. */
export interface BufferBounds {
  /** Highest stored size of an input. */
  readonly maxInputBytes: number
  readonly maxResultBytes: number
  readonly maxBufferedBytes: number
  readonly maxBufferedRows: number
  /**
   * Data dropped first while the buffer fills. If empty, whole decisions are kept until it is
   * full.
   */
  readonly givesWay: readonly GivesWay[]
  /** Time that a decision waits for others in its batch. */
  readonly flushIntervalMs: number
  readonly batchRows: number
  readonly batchBytes: number
  /** Highest number of batches that the writer has not confirmed. */
  readonly maxUnacknowledged: number
}

/** Fill levels, from 0 to 1, above which detail and allows are dropped. */
const DETAIL_GIVES_WAY_AT = 0.5
const ALLOWS_GIVE_WAY_AT = 0.75
const NO_DETAIL: CopyBounds = { inputBytes: 0, resultBytes: 0 }

/** Default limits. */
export const defaultBufferBounds: BufferBounds = {
  maxInputBytes: 16 * 1024 * 1024,
  maxResultBytes: 4 * 1024,
  // More than a second of 10,000 decisions of 5.6 KB each, half of it before detail is dropped: a
  // busy disk for that long loses nothing.
  maxBufferedBytes: 64 * 1024 * 1024,
  maxBufferedRows: 65_536,
  givesWay: ['detail', 'allows'],
  flushIntervalMs: 250,
  batchRows: 1024,
  batchBytes: 1024 * 1024,
  maxUnacknowledged: 2,
}

export interface BufferedDecisionLogDeps {
  readonly writer: DecisionBatchWriter
  readonly bounds?: Partial<BufferBounds>
  /** Whether the writer masks inputs. It then needs whole inputs, not only the stored part. */
  readonly masked: boolean
  /** Called for every lost batch. */
  readonly onWriteError?: (error: Error) => void
  /** Receiver of reported decisions. Must not raise. */
  readonly reports?: ReportedTo | undefined
}

export interface ReportedTo {
  readonly reported: ReportedDecisions
  readonly take: (report: DecisionReport) => void
}

interface SealedBatch {
  readonly batch: DecisionBatch
  readonly heldBytes: number
  readonly settle: () => void
}

/**
 * Collects decisions in memory and writes them in batches. If the buffer is full, new decisions are
 * dropped.
 */
export class BufferedDecisionLog implements DecisionLog {
  readonly #deps: BufferedDecisionLogDeps
  readonly #bounds: BufferBounds
  readonly #copyBounds: CopyBounds
  readonly #dropped: Record<DropReason, number> = { ...NOTHING_DROPPED }
  readonly #queue: SealedBatch[] = []
  /** Memory to be reused: fresh memory costs page faults and garbage collections. */
  readonly #spareMemory: Uint8Array<ArrayBuffer>[] = []
  readonly #unsettled = new Set<Promise<void>>()
  #open: DecisionBatchBuilder | undefined
  #timer: NodeJS.Timeout | undefined
  #unacknowledged = 0
  #written = 0
  #sealedRows = 0
  #sealedBytes = 0
  #closed = false

  constructor(deps: BufferedDecisionLogDeps) {
    this.#deps = deps
    this.#bounds = { ...defaultBufferBounds, ...deps.bounds }
    // An input above a quarter of the buffer would displace too much. The writer finds it cut and
    // drops it.
    const wholeInput = Math.floor(this.#bounds.maxBufferedBytes / 4)
    this.#copyBounds = {
      inputBytes: deps.masked ? wholeInput : Math.min(wholeInput, this.#bounds.maxInputBytes),
      resultBytes: this.#bounds.maxResultBytes,
    }
  }

  record(entry: DecisionEntry): void {
    try {
      const fill = this.#fill()
      if (fill < DETAIL_GIVES_WAY_AT) this.#keep(entry, this.#copyBounds)
      else this.#keepWhenFilling(entry, fill)
    } catch {
      // No memory for another batch. The decision itself must not fail.
      this.#drop(entry, 'buffer_full')
    }
  }

  /** Returns whether the decision fitted. */
  #keep(whole: DecisionEntry, bounds: CopyBounds): boolean {
    const entry = withShortPackages(whole, bounds)
    const size =
      copiedLength(entry.input, bounds.inputBytes) +
      copiedLength(entry.result, bounds.resultBytes) +
      (entry.ndBuiltinCache?.length ?? 0) +
      (entry.packages?.length ?? 0)
    if (this.#closed || this.#isFull(size)) {
      this.#drop(entry, 'buffer_full')
      return false
    }
    this.#batchWithCapacity(size).append(entry, bounds)
    return true
  }

  #keepWhenFilling(entry: DecisionEntry, fill: number): void {
    const { givesWay } = this.#bounds
    if (fill >= ALLOWS_GIVE_WAY_AT && entry.outcome === 'allow' && givesWay.includes('allows'))
      this.#drop(entry, 'allow_gave_way')
    else if (!givesWay.includes('detail')) this.#keep(entry, this.#copyBounds)
    else if (this.#keep({ ...entry, ndBuiltinCache: undefined }, NO_DETAIL))
      this.#dropped.detail_gave_way += 1
  }

  async flush(): Promise<void> {
    this.#seal()
    await Promise.all(this.#unsettled)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
    await this.#deps.writer.close()
  }

  stats(): DecisionLogStats {
    return {
      written: this.#written,
      dropped: { ...this.#dropped },
      bufferedRows: this.#rows(),
      bufferedBytes: this.#bytes(),
    }
  }

  #drop(entry: DecisionEntry, reason: DropReason): void {
    this.#dropped[reason] += 1
    const { reports } = this.#deps
    if (reports === undefined) return
    const executionId = entry.input && findExecutionId(entry.input)
    if (isReportable(reports.reported, { ...entry, executionId })) {
      reports.take({ decisions: [], omitted: { log_full: 1 } })
    }
  }

  #isFull(size: number): boolean {
    return (
      this.#rows() >= this.#bounds.maxBufferedRows || this.#bytes() + size > this.#bounds.maxBufferedBytes
    )
  }

  /** Fill level of the buffer, from 0 to 1. */
  #fill(): number {
    const { maxBufferedRows, maxBufferedBytes } = this.#bounds
    return Math.max(this.#rows() / maxBufferedRows, this.#bytes() / maxBufferedBytes)
  }

  #rows(): number {
    return this.#sealedRows + (this.#open?.rowCount ?? 0)
  }

  #bytes(): number {
    return this.#sealedBytes + (this.#open?.heldBytes ?? 0)
  }

  #batchWithCapacity(size: number): DecisionBatchBuilder {
    if (this.#open?.hasCapacity(size) === true) return this.#open
    this.#seal()
    this.#open = new DecisionBatchBuilder(this.#bounds.batchRows, this.#takeMemory(size))
    this.#timer = setTimeout(() => this.#seal(), this.#bounds.flushIntervalMs)
    this.#timer.unref()
    return this.#open
  }

  #takeMemory(size: number): Uint8Array<ArrayBuffer> {
    const { batchBytes } = this.#bounds
    const spare = size <= batchBytes ? this.#spareMemory.pop() : undefined
    // Not from Node's shared pool, since the whole buffer is transferred.
    return spare ?? Buffer.allocUnsafeSlow(Math.max(batchBytes, size))
  }

  #keepMemory(spent: Uint8Array<ArrayBuffer> | undefined): void {
    const isUsual = spent?.length === this.#bounds.batchBytes
    if (isUsual && this.#spareMemory.length < this.#bounds.maxUnacknowledged) this.#spareMemory.push(spent)
  }

  #seal(): void {
    clearTimeout(this.#timer)
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    this.#sealedRows += open.rowCount
    this.#sealedBytes += open.heldBytes
    const settled = new Promise<void>((settle) => {
      this.#queue.push({ batch: open.build(), heldBytes: open.heldBytes, settle })
    })
    this.#unsettled.add(settled)
    void settled.then(() => this.#unsettled.delete(settled))
    this.#writeQueued()
  }

  #writeQueued(): void {
    while (this.#unacknowledged < this.#bounds.maxUnacknowledged) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#unacknowledged += 1
      void this.#write(next)
    }
  }

  async #write({ batch, heldBytes, settle }: SealedBatch): Promise<void> {
    const { rowCount } = batch
    try {
      const receipt = await this.#deps.writer.write(batch)
      this.#written += rowCount
      this.#dropped.mask_failed += receipt.maskFailed
      this.#dropped.detail_gave_way += receipt.detailRemoved ?? 0
      this.#keepMemory(receipt.spentMemory)
      if (receipt.report !== undefined) this.#deps.reports?.take(receipt.report)
    } catch (raw) {
      this.#dropped.write_failed += rowCount
      this.#deps.reports?.take({ decisions: [], omitted: { log_failed: rowCount } })
      this.#deps.onWriteError?.(toError(raw))
    }
    this.#unacknowledged -= 1
    this.#sealedRows -= rowCount
    this.#sealedBytes -= heldBytes
    settle()
    this.#writeQueued()
  }
}

/** Returns the entry with its packages cut to the limit of a result. */
function withShortPackages(entry: DecisionEntry, { resultBytes }: CopyBounds): DecisionEntry {
  const packages = entry.packages && shortenPackages(entry.packages, resultBytes)
  return packages === entry.packages ? entry : { ...entry, packages }
}

/** Reasons of a package, and the numbers of omitted ones. */
interface NamedPackage {
  readonly package: string
  readonly deny: readonly string[]
  readonly denyLeftOut?: number
  readonly warnings?: readonly object[]
  readonly warningsLeftOut?: number
}

/**
 * Cuts the packages of a decision, as JSON bytes, to a size. The first packages retain their
 * reasons. Those after them have only their name, with the numbers of their denials as
 * `denyLeftOut` and of their warnings as `warningsLeftOut`. If not all names fit,
 * `{"packagesLeftOut": n}` is the last element. Undefined if none fits.
 */
export function shortenPackages(packages: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (packages.length <= maxBytes) return packages
  // The limit is 0 while the decision log drops details under load. Parsing would be wasted then.
  if (maxBytes <= REST_BYTES) return undefined
  const whole = JSON.parse(Buffer.from(packages).toString()) as readonly NamedPackage[]
  let bytesLeft = maxBytes - REST_BYTES
  const kept: NamedPackage[] = []
  for (const { package: name, deny, warnings } of whole) {
    const left = warnings === undefined ? {} : { warningsLeftOut: warnings.length }
    const named = { package: name, deny: [], denyLeftOut: deny.length, ...left }
    if (sizeOf(named) > bytesLeft) break
    bytesLeft -= sizeOf(named)
    kept.push(named)
  }
  for (const [at, named] of kept.entries()) {
    const all = whole[at] ?? named
    const more = sizeOf(all) - sizeOf(named)
    if (more > bytesLeft) break
    bytesLeft -= more
    kept[at] = all
  }
  if (kept.length === 0) return undefined
  const left = whole.length - kept.length
  return Buffer.from(JSON.stringify(left === 0 ? kept : [...kept, { packagesLeftOut: left }]))
}

/** Size of an element with its comma. */
function sizeOf(element: NamedPackage): number {
  return Buffer.byteLength(JSON.stringify(element)) + 1
}
