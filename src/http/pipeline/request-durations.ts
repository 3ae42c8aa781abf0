import type { Metric } from 'prom-client'

import { PlainHistogram } from './figures/plain-histogram.js'
import type { HistogramSeries } from './figures/plain-histogram.js'

/** OPA's buckets for `http_request_duration_seconds`, so that dashboards made for it go on working. */
const BUCKETS: readonly number[] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.01, 0.1, 1]

/** The histogram of request durations. */
export class RequestDurations {
  readonly #histogram = new PlainHistogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer, by route and status.',
    buckets: BUCKETS,
  })
  readonly #byHandler = new Map<string, Map<number, HistogramSeries>>()

  get metric(): Metric {
    return this.#histogram.metric
  }

  observe(handler: string, method: string, status: number, seconds: number): void {
    this.#histogram.observe(this.#find(`${handler} ${method}`, handler, method, status), seconds)
  }

  #find(key: string, handler: string, method: string, status: number): HistogramSeries {
    const byStatus = this.#byHandler.get(key) ?? new Map<number, HistogramSeries>()
    this.#byHandler.set(key, byStatus)
    const present = byStatus.get(status)
    if (present !== undefined) return present
    const made = this.#histogram.begin({ code: String(status), handler, method: method.toLowerCase() })
    byStatus.set(status, made)
    return made
  }
}
