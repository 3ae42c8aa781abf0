import { ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import type {
  CollectionResult,
  DataPoint,
  Histogram,
  MetricData,
  MetricDescriptor,
  MetricProducer as Producer,
} from '@opentelemetry/sdk-metrics'

import type { CollectMetrics } from './telemetry.js'

type Metric = Awaited<ReturnType<CollectMetrics>>[number]

interface Sample {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  /** `NAME_bucket`, `NAME_sum` or `NAME_count` of a histogram. */
  readonly metricName?: string | undefined
}

/**
 * Reads the metrics of `/metrics` for a collector, under the same names. Counters and histograms
 * are cumulative since `startMs`, in epoch milliseconds.
 */
export class MetricProducer implements Producer {
  readonly #resource: Resource
  readonly #collect: CollectMetrics
  readonly #startMs: number

  constructor(resource: Resource, collect: CollectMetrics, startMs: number) {
    this.#resource = resource
    this.#collect = collect
    this.#startMs = startMs
  }

  async collect(): Promise<CollectionResult> {
    const found = await this.#collect()
    const times = { startTime: millisToHrTime(this.#startMs), endTime: millisToHrTime(Date.now()) }
    const metrics = found.flatMap((metric) => toMetricData(metric, times))
    const scopeMetrics = [{ scope: { name: 'tidegate' }, metrics }]
    return { resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] }
  }
}

type Times = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>

/** Summaries have no counterpart. The service has none. */
function toMetricData(metric: Metric, times: Times): MetricData[] {
  const { name, help, values } = metric
  const descriptor: MetricDescriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE }
  const points = (): DataPoint<number>[] =>
    values.map(({ labels, value }: Sample) => ({ ...times, attributes: attributesOf(labels), value }))
  // Typed as a numeric enum, but a string at run time.
  switch (String(metric.type)) {
    case 'counter':
      return [
        {
          descriptor,
          ...CUMULATIVE,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints: points(),
        },
      ]
    case 'gauge':
      return [{ descriptor, ...CUMULATIVE, dataPointType: DataPointType.GAUGE, dataPoints: points() }]
    case 'histogram':
      return [
        {
          descriptor,
          ...CUMULATIVE,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histogramPoints(name, values, times),
        },
      ]
    default:
      return []
  }
}

const CUMULATIVE = { aggregationTemporality: AggregationTemporality.CUMULATIVE }

interface Series {
  readonly labels: Sample['labels']
  /** Upper bounds with the number of values up to each, as Prometheus counts them. */
  readonly buckets: [bound: number, count: number][]
  sum: number
  count: number
}

/** Groups the samples of a histogram by their labels without `le`. */
function histogramPoints(name: string, values: readonly Sample[], times: Times): DataPoint<Histogram>[] {
  const bySeries = new Map<string, Series>()
  for (const { labels: all, metricName, value } of values) {
    const { le, ...labels } = all
    const key = JSON.stringify(Object.entries(labels).sort())
    const series = bySeries.get(key) ?? { labels, buckets: [], sum: 0, count: 0 }
    bySeries.set(key, series)
    if (metricName === `${name}_sum`) series.sum = value
    else if (metricName === `${name}_count`) series.count = value
    else if (le !== undefined && le !== '+Inf') series.buckets.push([Number(le), value])
  }
  return [...bySeries.values()].map(({ labels, buckets, sum, count }) => {
    const sorted = buckets.toSorted(([a], [b]) => a - b)
    const upTo = [0, ...sorted.map(([, each]) => each), count]
    return {
      ...times,
      attributes: attributesOf(labels),
      value: {
        buckets: {
          boundaries: sorted.map(([bound]) => bound),
          counts: upTo.slice(1).map((each, index) => each - (upTo[index] ?? 0)),
        },
        sum,
        count,
      },
    }
  })
}

function attributesOf(labels: Sample['labels']): DataPoint<unknown>['attributes'] {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined))
}
