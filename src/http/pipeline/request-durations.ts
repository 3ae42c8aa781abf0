import type { Metric, MetricValueWithName } from 'prom-client'

/** OPA's buckets for `http_request_duration_seconds`, so that dashboards made for it go on working. */
const BUCKETS: readonly number[] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.01, 0.1, 1]
const NAME = 'http_request_duration_seconds'
const HELP = 'Time from the first byte of a request to the end of its answer, by route and status.'

/** What the registry asks a metric for; the library's own type of it also holds what only its classes use. */
interface Samples {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly MetricValueWithName<string>[]
}

interface Durations {
  readonly labels: { readonly code: string; readonly handler: string; readonly method: string }
  /** Requests by the bucket they fall into; the last one is for those above all buckets. */
  readonly counts: number[]
  sum: number
}

/**
 * The histogram of request durations. The library's own looks its labels up by a text for every observation, which
 * costs a small decision several percent; this one keeps plain counts and turns them into samples when asked.
 */
export class RequestDurations {
  readonly #byHandler = new Map<string, Map<number, Durations>>()

  /** For `Registry.registerMetric`, which needs no more of a metric than its name and its samples. */
  get metric(): Metric {
    const get = (): Promise<Samples> => Promise.resolve(this.#collect())
    return { name: NAME, help: HELP, get, reset: () => this.#byHandler.clear() } as unknown as Metric
  }

  observe(handler: string, method: string, status: number, seconds: number): void {
    const durations = this.#find(`${handler} ${method}`, handler, method, status)
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] ?? 0)) bucket += 1
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1
    durations.sum += seconds
  }

  #find(key: string, handler: string, method: string, status: number): Durations {
    const byStatus = this.#byHandler.get(key) ?? new Map<number, Durations>()
    this.#byHandler.set(key, byStatus)
    const present = byStatus.get(status)
    if (present !== undefined) return present
    const labels = { code: String(status), handler, method: method.toLowerCase() }
    const made = { labels, counts: Array.from({ length: BUCKETS.length + 1 }, () => 0), sum: 0 }
    byStatus.set(status, made)
    return made
  }

  #collect(): Samples {
    const all = [...this.#byHandler.values()].flatMap((byStatus) => [...byStatus.values()])
    return { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values: all.flatMap(samples) }
  }
}

/** Each bucket counts what is at or below its bound, so the counts add up. */
function samples({ labels, counts, sum }: Durations): MetricValueWithName<string>[] {
  let total = 0
  const buckets = [...BUCKETS, '+Inf'].map((le, index) => {
    total += counts[index] ?? 0
    return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: total },
  ]
}
