import type {
  DocumentSource,
  FetchBudget,
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
  const { metrics, logs, documents, instances } = guards(name, parts.reportDefect)
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
      return {
        ...{ name, type },
        metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)),
        instances: instances((query, budget) => fetchInstances(query, budget, connection, range)),
      }
    }
    case 'loki': {
      const range = { path: LOKI_RANGE_PATH, method: 'GET', maxPoints: settings.maxPoints } as const
      return {
        ...{ name, type },
        metrics: metrics((query, budget) => fetchRange(query, budget, connection, range)),
        instances: instances((query, budget) => fetchInstances(query, budget, connection, range)),
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
      return {
        ...{ name, type, metrics: metrics(pointsOf(settings, connection)) },
        documents: documents((query, budget) => fetchDocument(query, budget, connection)),
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

type Fetch<Query, Answer> = (query: Query, budget: FetchBudget) => Promise<Answer>

/** Makes sources of functions that may reject. Their errors become failed answers. */
function guards(
  name: string,
  report: ReportDefect,
): {
  readonly metrics: (fetch: MetricSource['fetchSeries']) => MetricSource
  readonly logs: (fetch: LogSource['fetchLines']) => LogSource
  readonly documents: (fetch: DocumentSource['fetchDocument']) => DocumentSource
  readonly instances: (fetch: InstanceSource['fetchInstances']) => InstanceSource
} {
  const guarded =
    <Query, Answer>(
      fetch: Fetch<Query, Answer>,
      failed: (query: Query, problem: string) => Answer,
    ): Fetch<Query, Answer> =>
    async (query, budget) => {
      try {
        return await fetch(query, budget)
      } catch (raw) {
        return failed(query, `${name}: ${reasonOf(raw, report)}`)
      }
    }
  return {
    metrics: (fetch) => ({
      fetchSeries: guarded(
        async (query, budget) => withBoundedRemarks(await fetch(query, budget)),
        (query, problem) => failedSeries(query.query, stepGrid(query, query.stepMs), problem),
      ),
    }),
    logs: (fetch) => ({
      fetchLines: guarded(
        async (query, budget) => withBoundedRemarks(await fetch(query, budget)),
        (query, problem) => failedLines(query.query, query, problem),
      ),
    }),
    documents: (fetch) => ({
      fetchDocument: guarded(fetch, ({ query }, problem) => ({ query, problem })),
    }),
    instances: (fetch) => ({ fetchInstances: guarded(fetch, (_, problem) => ({ problem })) }),
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
