import type { SeriesAggregate } from '../../sources.js'
import { BoundedRemarks } from './answers.js'
import { SeriesBuilder } from './series-builder.js'
import type { StepGrid } from './step-grid.js'

/** What one answer has of a grid. */
export interface GridPart {
  readonly grid: StepGrid
  readonly builder: SeriesBuilder
  /** A series for each label, where that was asked for, of `MAX_COUNTED_SERIES` and one at most. */
  readonly units: ReadonlyMap<string, SeriesBuilder>
  /** Of the series, where nothing joins several; no more than `MAX_COUNTED_SERIES` and one. */
  readonly labels: ReadonlySet<string>
  /** What the server remarks of data that may be missing, as whole sentences. */
  readonly gaps: readonly string[]
  /** All that it remarks. */
  readonly warnings: readonly string[]
  /** Values that are no numbers. */
  readonly unreadable: number
  readonly offGrid: number
}

/** More series are only said to be more. */
export const MAX_COUNTED_SERIES = 100
/** Beyond it series are not told apart, and only their number is of use then. */
const MAX_LABEL_LENGTH = 4096

/** Gathers what an answer has of a grid. */
export class GridPartBuilder {
  readonly #grid: StepGrid
  readonly #builder: SeriesBuilder
  readonly #aggregate: SeriesAggregate | undefined
  readonly #units = new Map<string, SeriesBuilder>()
  #unit: SeriesBuilder | undefined
  readonly #labels = new Set<string>()
  readonly #gaps = new BoundedRemarks()
  readonly #warnings = new BoundedRemarks()
  #unreadable = 0
  #offGrid = 0

  constructor(grid: StepGrid, aggregate: SeriesAggregate | undefined) {
    this.#grid = grid
    this.#builder = new SeriesBuilder(grid, aggregate)
    this.#aggregate = aggregate
  }

  /** A series, by what tells it from others; the values that follow are its own. */
  addSeries(label: () => string): void {
    if (this.#aggregate === 'units') this.#unit = this.#unitOf(keptLabel(label()))
    if (this.#aggregate !== undefined || this.#labels.size > MAX_COUNTED_SERIES) return
    this.#labels.add(keptLabel(label()))
  }

  #unitOf(label: string): SeriesBuilder | undefined {
    const known = this.#units.get(label)
    if (known !== undefined || this.#units.size > MAX_COUNTED_SERIES) return known
    const unit = new SeriesBuilder(this.#grid, 'average')
    this.#units.set(label, unit)
    return unit
  }

  /** A value at a step, measured at `atMs`; either is undefined where it is none. */
  addValue(step: number | undefined, value: number | undefined, atMs: number): void {
    if (value === undefined) this.#unreadable += 1
    else if (step === undefined) this.#offGrid += 1
    else {
      this.#builder.add(step, value, atMs)
      this.#unit?.add(step, value, atMs)
    }
  }

  addGap(sentence: string): void {
    this.#gaps.add(sentence)
  }

  addWarning(sentence: string): void {
    this.#warnings.add(sentence)
  }

  part(): GridPart {
    return {
      ...{ grid: this.#grid, builder: this.#builder, units: this.#units, labels: this.#labels },
      ...{ gaps: this.#gaps.list(), warnings: this.#warnings.list() },
      ...{ unreadable: this.#unreadable, offGrid: this.#offGrid },
    }
  }
}

/** Through bytes, since a mere slice would keep the whole text in memory. */
function keptLabel(label: string): string {
  return Buffer.from(label.slice(0, MAX_LABEL_LENGTH)).toString()
}
