import type { Registry } from 'prom-client'

import type { UntilTurn } from '../../lib/turns/shared-run.js'
import type { Exemplar, Exemplars } from './exemplars.js'

/** All figures of a process, as plain data. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The figures as text, in either format of Prometheus; all who ask before it is made get the same. */
export interface MetricTexts {
  readonly plain: (untilTurn: UntilTurn) => Promise<string>
  /** With exemplars. */
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
 * The figures in OpenMetrics text, 1.0. Names and labels of samples are those of the plain format, so that series stay the same whichever of them a
 * server asks for. (The library writes only one of both formats from a registry, and renames its counters when it does.)
 */
export function openMetricsText(metrics: MetricValues, exemplars: Pick<Exemplars, 'find'>): string {
  const lines = metrics.flatMap(({ name, help, type, values }) => {
    // The library types it as an enumeration of numbers; it is a word.
    const kind = String(type)
    const isTotal = kind === 'counter' && name.endsWith(TOTAL)
    const family = isTotal ? name.slice(0, -TOTAL.length) : name
    const samples = values.map((sample: Sample) => {
      const { metricName = name, labels, value } = sample
      return `${seriesText(metricName, labels)} ${numberText(value)}${exemplarText(exemplars.find(metricName, labels))}`
    })
    const told = kind === 'counter' && !isTotal ? 'unknown' : kind
    return [`# HELP ${family} ${escaped(help)}`, `# TYPE ${family} ${told}`, ...samples]
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
