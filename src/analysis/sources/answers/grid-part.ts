import type { SeriesAggregate } from '../../sources.js'
import { BoundedRemarks } from './answers.js'
import { SeriesBuilder } from './series-builder.js'
import type { StepGrid } from './step-grid.js'

/** The data for a grid in one answer. */
export interface GridPart {
  readonly grid: StepGrid
  readonly builder: SeriesBuilder
  /** A series for each label, if the aggregate is `units`; at most `MAX_COUNTED_SERIES` + 1. */
  readonly units: ReadonlyMap<string, SeriesBuilder>
  /** Labels of the series, if no aggregate joins them; at most `MAX_COUNTED_SERIES` + 1. */
  readonly labels: ReadonlySet<string>
  /** Remarks of the server about data that may be missing, as whole sentences. */
  readonly gaps: readonly string[]
  /** All remarks of the server. */
  readonly warnings: readonly string[]
  /** Values that are no numbers. */
  readonly unreadable: number
  readonly offGrid: number
}

/** Maximum number of series that are counted. */
export const MAX_COUNTED_SERIES = 100
/**
 * Maximum length of a label. Longer ones are not distinguished, and only their number matters then.
 */
const MAX_LABEL_LENGTH = 4096

/** Collects the data of one answer for a grid. */
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

  /** Starts a series by its label. The following values belong to it. */
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

  /** Adds a value at a step, measured at `atMs`. Either is undefined if it is invalid. */
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

/** Copied through bytes, since a slice would keep the whole text in memory. */
function keptLabel(label: string): string {
  return Buffer.from(label.slice(0, MAX_LABEL_LENGTH)).toString()
}
