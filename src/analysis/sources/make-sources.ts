import type { DocumentSource, LogSource, MetricSource } from '../sources.js'
import { guardDocumentSource, guardLogSource, guardMetricSource } from './answers/guarded-source.js'
import type { ReportDefect } from './answers/guarded-source.js'
import type { SourceConnection } from './answers/source-connection.js'
import type { SourceSettings } from './answers/source-settings.js'
import { connectSource } from './connect-source.js'
import type { SourceConnectionParts } from './connect-source.js'
import { fetchSearchLines } from './elasticsearch/fetch-search-lines.js'
import { readFileLines } from './files/read-file-lines.js'
import { readFileSeries } from './files/read-file-series.js'
import { chooseLinesApi } from './lines/choose-lines-api.js'
import { fetchLines } from './lines/fetch-lines.js'
import { LOKI_RANGE_PATH, fetchLokiLines } from './loki/fetch-loki-lines.js'
import { fetchDocument } from './points/fetch-document.js'
import { fetchPoints } from './points/fetch-points.js'
import { choosePointsApi } from './points/choose-points-api.js'
import { fetchRange } from './prometheus/fetch-range.js'

export interface SourceParts extends SourceConnectionParts {
  /** Called for defects, which answers only mention. */
  readonly reportDefect: ReportDefect
}

/** What a configured source can be asked for. */
export interface AnalysisSource {
  readonly name: string
  readonly type: SourceSettings['type']
  readonly metrics?: MetricSource
  readonly logs?: LogSource
  readonly documents?: DocumentSource
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
  if (settings.type === 'file') {
    return {
      name,
      type,
      metrics: metrics((query) => readFileSeries(query, settings)),
      logs: logs((query, budget) => readFileLines(query, budget, settings, parts.now)),
    }
  }
  const connection = connectSource(settings, parts)
  switch (settings.type) {
    case 'prometheus': {
      const range = { path: PROMETHEUS_RANGE_PATH, method: 'POST', maxPoints: settings.maxPoints } as const
      return { name, type, metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)) }
    }
    case 'loki': {
      const range = { path: LOKI_RANGE_PATH, method: 'GET', maxPoints: settings.maxPoints } as const
      return {
        name,
        type,
        metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)),
        logs: logs((query, budget) => fetchLokiLines(query, budget, connection, settings)),
      }
    }
    case 'elasticsearch':
    case 'opensearch':
      return {
        name,
        type,
        logs: logs((query, budget) => fetchSearchLines(query, budget, connection, settings)),
      }
    case 'cloudwatchlogs':
    case 'splunk':
      return { name, type, logs: logs(linesOf(settings, connection)) }
    case 'datadog':
      return {
        ...{ name, type },
        metrics: metrics(pointsOf(settings, connection)),
        logs: logs(linesOf(settings, connection)),
      }
    case 'web': {
      const documents: DocumentSource['fetchDocument'] = (query, budget) =>
        fetchDocument(query, budget, connection)
      return {
        ...{ name, type, metrics: metrics(pointsOf(settings, connection)) },
        documents: guardDocumentSource(name, documents, parts.reportDefect),
      }
    }
    default:
      return { name, type, metrics: metrics(pointsOf(settings, connection)) }
  }
}

/** The metrics of a server that answers with values at times of its own. */
function pointsOf(
  settings: Parameters<typeof choosePointsApi>[0],
  connection: SourceConnection,
): MetricSource['fetchSeries'] {
  const { maxPoints } = settings
  return async (query, budget) => {
    const api = choosePointsApi(settings, query.query)
    return fetchPoints(query, budget, connection, { api, maxPoints })
  }
}

/** The lines of a server that answers in pages of its own. */
function linesOf(
  settings: Parameters<typeof chooseLinesApi>[0],
  connection: SourceConnection,
): LogSource['fetchLines'] {
  // Splunk gives all that is read in one answer.
  const limits = settings.type === 'splunk' ? { ...settings, pageLines: Infinity } : settings
  return async (query, budget) =>
    fetchLines(query, budget, connection, { asking: chooseLinesApi(settings, query), limits })
}
