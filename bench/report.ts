import type { LoadResult } from './load.js'

/** One server's figures for one body. */
export interface Sample extends LoadResult {
  /** Resident memory after the run; of several rounds the greatest. */
  readonly residentMb: number
  /** Decisions that its log lost; of several rounds the sum. */
  readonly dropped: number
}

export interface Comparison {
  readonly body: string
  readonly logging: boolean
  readonly tidegate: Sample
  readonly opa: Sample
}

const COLUMNS = [
  'decision log',
  'body',
  'req/s',
  'OPA req/s',
  'ratio',
  'p50 ms',
  'OPA p50',
  'p99 ms',
  'OPA p99',
  'p99 ratio',
  'MB',
  'OPA MB',
  'failed',
  'dropped',
] as const

/** The comparisons as a Markdown table; the ratio is Tidegate's throughput over OPA's. */
export function printTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(toRow)
  const widths = COLUMNS.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padStart(widths[index] ?? 0)).join(' | ')} |`
  return [line(COLUMNS), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function toRow({ body, logging, tidegate, opa }: Comparison): string[] {
  return [
    logging ? 'on' : 'off',
    body,
    tidegate.requestsPerSecond.toFixed(0),
    opa.requestsPerSecond.toFixed(0),
    (tidegate.requestsPerSecond / opa.requestsPerSecond).toFixed(1),
    tidegate.p50Ms.toFixed(2),
    opa.p50Ms.toFixed(2),
    tidegate.p99Ms.toFixed(2),
    opa.p99Ms.toFixed(2),
    (tidegate.p99Ms / opa.p99Ms).toFixed(2),
    tidegate.residentMb.toFixed(0),
    opa.residentMb.toFixed(0),
    String(tidegate.failures + opa.failures),
    String(tidegate.dropped),
  ]
}
