import type {
  DocumentSource,
  InstanceSource,
  LogSource,
  MetricSource,
  SeriesAnswer,
  LinesQuery,
} from '../sources.js'
import type { SourceConnection } from './answers/source-connection.js'
import type {
  SourceSettings,
  CloudWatchLogsSettings,
  DatadogSettings,
  SplunkSettings,
} from './answers/source-settings.js'
import { connectSource } from './connect-source.js'
import type { SourceConnectionParts } from './connect-source.js'
import { fetchSearchLines } from './elasticsearch/fetch-search-lines.js'
import { readFileLines } from './files/read-file-lines.js'
import { readFileSeries } from './files/read-file-series.js'
import { fetchLines } from './lines/fetch-lines.js'
import { LOKI_RANGE_PATH, fetchLokiLines } from './loki/fetch-loki-lines.js'
import { fetchDocument, fetchPoints } from './points/fetch-points.js'
import { choosePointsApi } from './points/choose-points-api.js'
import { fetchInstances } from './prometheus/fetch-instances.js'
import { fetchRange } from './prometheus/fetch-range.js'
import type { RangeSettings } from './prometheus/fetch-range.js'
import { AppError, toAppError, toError } from '../../errors/app-error.js'
import { boundedRemarks, failedLines, failedSeries } from './answers/answers.js'
import { stepGrid } from './answers/step-grid.js'
import { cloudWatchLogsApi } from './lines/cloudwatch-logs.js'
import { datadogLogsApi } from './lines/datadog-logs.js'
import type { LinesApi } from './lines/lines-api.js'
import { splunkApi } from './lines/splunk.js'

interface SourceParts extends SourceConnectionParts {
  /** Called for defects, which answers only mention. */
  readonly reportDefect: ReportDefect
}

/** A configured source and the data it provides. */
export interface AnalysisSource {
  readonly name: string
  readonly type: SourceSettings['type']
  readonly metrics?: MetricSource
  readonly logs?: LogSource
  readonly documents?: DocumentSource
  readonly instances?: InstanceSource
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
      return { name, type, ...fromRanges(connection, range, parts) }
    }
    case 'loki': {
      const range = { path: LOKI_RANGE_PATH, method: 'GET', maxPoints: settings.maxPoints } as const
      return {
        ...{ name, type, ...fromRanges(connection, range, parts) },
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

/** The metrics and instances of a server with range queries. */
function fromRanges(
  connection: SourceConnection,
  range: RangeSettings,
  { reportDefect }: SourceParts,
): Required<Pick<AnalysisSource, 'metrics' | 'instances'>> {
  const { name } = connection
  const ofSeries: MetricSource['fetchSeries'] = (query, budget) =>
    fetchRange(query, budget, connection, range)
  const ofInstances: InstanceSource['fetchInstances'] = (query, budget) =>
    fetchInstances(query, budget, connection, range)
  return {
    metrics: guardMetricSource(name, ofSeries, reportDefect),
    instances: guardInstanceSource(name, ofInstances, reportDefect),
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
  // Splunk returns all requested lines in one answer.
  const limits = settings.type === 'splunk' ? { ...settings, pageLines: Infinity } : settings
  return async (query, budget) =>
    fetchLines(query, budget, connection, { api: chooseLinesApi(settings, query), limits })
}

/**
 * Called for errors other than AppErrors: defects, which the answer does not describe in detail.
 */
type ReportDefect = (error: Error) => void

function withBoundedRemarks<Answer extends Pick<SeriesAnswer, 'reasons' | 'warnings'>>(
  answer: Answer,
): Answer {
  const { reasons, warnings } = answer
  return { ...answer, reasons: boundedRemarks(reasons), warnings: boundedRemarks(warnings) }
}

/** A source of metrics from a function that may reject: what it raises becomes a failed answer. */
function guardMetricSource(
  name: string,
  fetchSeries: MetricSource['fetchSeries'],
  report: ReportDefect,
): MetricSource {
  return {
    fetchSeries: async (query, budget) => {
      try {
        return withBoundedRemarks(await fetchSeries(query, budget))
      } catch (raw) {
        return failedSeries(query.query, stepGrid(query, query.stepMs), `${name}: ${reasonOf(raw, report)}`)
      }
    },
  }
}

/** A source of log lines from a function that may reject. Its errors become failed answers. */
function guardLogSource(name: string, fetchLines: LogSource['fetchLines'], report: ReportDefect): LogSource {
  return {
    fetchLines: async (query, budget) => {
      try {
        return withBoundedRemarks(await fetchLines(query, budget))
      } catch (raw) {
        return failedLines(query.query, query, `${name}: ${reasonOf(raw, report)}`)
      }
    },
  }
}

/**
 * A source of documents from a function that may reject. Its errors become the problem of the
 * answer.
 */
function guardDocumentSource(
  name: string,
  fetchDocument: DocumentSource['fetchDocument'],
  report: ReportDefect,
): DocumentSource {
  return {
    fetchDocument: async (query, budget) => {
      try {
        return await fetchDocument(query, budget)
      } catch (raw) {
        return { query: query.query, problem: `${name}: ${reasonOf(raw, report)}` }
      }
    },
  }
}

/** A source of instances from a function that may reject. Its errors become problems. */
function guardInstanceSource(
  name: string,
  fetchInstances: InstanceSource['fetchInstances'],
  report: ReportDefect,
): InstanceSource {
  return {
    fetchInstances: async (query, budget) => {
      try {
        return await fetchInstances(query, budget)
      } catch (raw) {
        return { problem: `${name}: ${reasonOf(raw, report)}` }
      }
    },
  }
}

function reasonOf(raw: unknown, report: ReportDefect): string {
  if (!(raw instanceof AppError)) report(toError(raw))
  return toAppError(raw).message
}

/** The API of a source of log lines that answers in pages. Raises `invalid` for invalid queries. */
function chooseLinesApi(
  { type, index }: CloudWatchLogsSettings | DatadogSettings | SplunkSettings,
  query: LinesQuery,
): LinesApi {
  switch (type) {
    case 'cloudwatchlogs':
      return cloudWatchLogsApi(query, index)
    case 'datadog':
      return datadogLogsApi(query, index)
    case 'splunk':
      return splunkApi(query, index)
  }
}
