import type { Metric, MetricValueWithName } from 'prom-client'

/** What the registry asks a metric for; the library's own type of it also holds what only its classes use. */
interface Samples {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly MetricValueWithName<string>[]
}

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  readonly buckets: readonly number[]
}

/** The observations with the same labels. */
export interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>
  /** By the bucket that they fall into; the last one is for those above all buckets. */
  readonly counts: number[]
  sum: number
}

/**
 * A histogram of which who observes keeps the series. The library's own looks its labels up by a text for every observation, which
 * costs a small decision several percent; this one keeps plain counts and turns them into samples when asked.
 */
export class PlainHistogram {
  readonly #options: HistogramOptions
  readonly #series: HistogramSeries[] = []

  constructor(options: HistogramOptions) {
    this.#options = options
  }

  /** For `Registry.registerMetric`, which needs no more of a metric than its name and its samples. */
  get metric(): Metric {
    const { name, help } = this.#options
    const get = (): Promise<Samples> => Promise.resolve(this.#collect())
    return { name, help, get, reset: () => this.#reset() } as unknown as Metric
  }

  /** A series for labels that have none yet. */
  begin(labels: HistogramSeries['labels']): HistogramSeries {
    const counts = Array.from({ length: this.#options.buckets.length + 1 }, () => 0)
    const series = { labels, counts, sum: 0 }
    this.#series.push(series)
    return series
  }

  observe(series: HistogramSeries, value: number): void {
    const { buckets } = this.#options
    let bucket = 0
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
  }

  /** Who observes keeps the series, so that they begin at nothing again and none is dropped. */
  #reset(): void {
    for (const series of this.#series) {
      series.counts.fill(0)
      series.sum = 0
    }
  }

  #collect(): Samples {
    const { name, help } = this.#options
    const values = this.#series.flatMap((series) => this.#samples(series))
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }

  /** Each bucket counts what is at or below its bound, so the counts add up. */
  #samples({ labels, counts, sum }: HistogramSeries): MetricValueWithName<string>[] {
    const { name, buckets } = this.#options
    let total = 0
    const below = [...buckets, '+Inf'].map((le, index) => {
      total += counts[index] ?? 0
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total }
    })
    return [
      ...below,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ]
  }
}
