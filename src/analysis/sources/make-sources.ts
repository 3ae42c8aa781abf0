import { authHeaders } from '../../lib/outbound/credentials.js'
import type { LogSource, MetricSource } from '../sources.js'
import { fetchSearchLines } from './elasticsearch/fetch-search-lines.js'
import { readFileLines } from './files/read-file-lines.js'
import { readFileSeries } from './files/read-file-series.js'
import { guardLogSource, guardMetricSource } from './answers/guarded-source.js'
import type { ReportDefect } from './answers/guarded-source.js'
import { LOKI_RANGE_PATH, fetchLokiLines } from './loki/fetch-loki-lines.js'
import { fetchRange } from './prometheus/fetch-range.js'
import { makeSourceConnection } from './answers/source-connection.js'
import type { ConnectionParts, SourceConnection } from './answers/source-connection.js'
import type {
  LokiSettings,
  PrometheusSettings,
  SearchSettings,
  SourceSettings,
} from './answers/source-settings.js'

export interface SourceParts extends ConnectionParts {
  /** Called for defects, which answers only mention. */
  readonly reportDefect: ReportDefect
}

/** What a configured source can be asked for. */
export interface AnalysisSource {
  readonly name: string
  readonly type: SourceSettings['type']
  readonly metrics?: MetricSource
  readonly logs?: LogSource
}

const PROMETHEUS_RANGE_PATH = '/api/v1/query_range'

/** The configured sources by their names. */
export function makeSources(
  settings: readonly SourceSettings[],
  parts: SourceParts,
): ReadonlyMap<string, AnalysisSource> {
  return new Map(settings.map((source) => [source.name, makeSource(source, parts)]))
}

function makeSource(settings: SourceSettings, parts: SourceParts): AnalysisSource {
  const { name, type } = settings
  const metrics = (fetchSeries: MetricSource['fetchSeries']): MetricSource =>
    guardMetricSource(name, fetchSeries, parts.reportDefect)
  const logs = (fetchLines: LogSource['fetchLines']): LogSource =>
    guardLogSource(name, fetchLines, parts.reportDefect)
  switch (settings.type) {
    case 'prometheus': {
      const connection = connect(settings, settings.tenant, parts)
      const range = { path: PROMETHEUS_RANGE_PATH, method: 'POST', maxPoints: settings.maxPoints } as const
      return { name, type, metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)) }
    }
    case 'loki': {
      const connection = connect(settings, settings.tenant, parts)
      const range = { path: LOKI_RANGE_PATH, method: 'GET', maxPoints: settings.maxPoints } as const
      return {
        name,
        type,
        metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)),
        logs: logs((query, budget) => fetchLokiLines(query, budget, connection, settings)),
      }
    }
    case 'elasticsearch':
    case 'opensearch': {
      const connection = connect(settings, undefined, parts)
      return {
        name,
        type,
        logs: logs((query, budget) => fetchSearchLines(query, budget, connection, settings)),
      }
    }
    case 'file':
      return {
        name,
        type,
        metrics: metrics((query) => readFileSeries(query, settings)),
        logs: logs((query, budget) => readFileLines(query, budget, settings, parts.now)),
      }
  }
}

function connect(
  {
    name,
    url,
    credentials,
    timeoutSeconds,
    maxResponseBytes,
  }: PrometheusSettings | LokiSettings | SearchSettings,
  tenant: string | undefined,
  parts: SourceParts,
): SourceConnection {
  const headers = {
    ...authHeaders(credentials),
    ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
  }
  return makeSourceConnection(
    { name, url, headers, requestTimeoutMs: timeoutSeconds * 1000, maxResponseBytes },
    parts,
  )
}
