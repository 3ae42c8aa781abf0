import type { Registry } from 'prom-client'

import type { UntilTurn } from '../../lib/turns/shared-run.js'
import type { Exemplar, Exemplars } from './exemplars.js'

/** All metrics of a process as plain data. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Metrics as text in both Prometheus formats. Concurrent callers share one result. */
export interface MetricTexts {
  readonly plain: (untilTurn: UntilTurn) => Promise<string>
  readonly values: () => Promise<MetricValues>
  /** Includes exemplars. */
  readonly openMetrics: (untilTurn: UntilTurn) => Promise<string>
}

export const PLAIN_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const TOTAL = '_total'
const MS_PER_SECOND = 1000

interface Sample {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string | undefined
}

/**
 * Returns the metrics in OpenMetrics 1.0 text. Names and labels match the plain format, so series
 * stay the same in both. (A prom-client registry writes only one format, and renames counters for
 * OpenMetrics.)
 */
export function openMetricsText(metrics: MetricValues, exemplars: Pick<Exemplars, 'find'>): string {
  const lines = metrics.flatMap(({ name, help, type, values }) => {
    // Typed as a numeric enum, but a string at run time.
    const kind = String(type)
    const isTotal = kind === 'counter' && name.endsWith(TOTAL)
    const family = isTotal ? name.slice(0, -TOTAL.length) : name
    const samples = values.map((sample: Sample) => {
      const { metricName = name, labels, value } = sample
      return `${seriesText(metricName, labels)} ${numberText(value)}${exemplarText(exemplars.find(metricName, labels))}`
    })
    const shownType = kind === 'counter' && !isTotal ? 'unknown' : kind
    return [`# HELP ${family} ${escaped(help)}`, `# TYPE ${family} ${shownType}`, ...samples]
  })
  return `${lines.join('\n')}\n# EOF\n`
}

function seriesText(name: string, labels: Sample['labels']): string {
  const written = labelsText(labels)
  return written === '' ? name : `${name}{${written}}`
}

function labelsText(labels: Sample['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(String(value))}"`)
    .join(',')
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return ''
  const { labels, value, atMs } = exemplar
  return ` # {${labelsText(labels)}} ${numberText(value)} ${atMs / MS_PER_SECOND}`
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('"', String.raw`\"`)
}
