import { AppError, toAppError, toError } from '../../../errors/app-error.js'
import type { DocumentSource, LogSource, MetricSource, SeriesAnswer } from '../../sources.js'
import { boundedRemarks, failedLines, failedSeries } from './answers.js'
import { stepGrid } from './step-grid.js'

/** Called for what is no AppError: a defect, of which the answer says nothing in particular. */
export type ReportDefect = (error: Error) => void

function withBoundedRemarks<Answer extends Pick<SeriesAnswer, 'reasons' | 'warnings'>>(
  answer: Answer,
): Answer {
  const { reasons, warnings } = answer
  return { ...answer, reasons: boundedRemarks(reasons), warnings: boundedRemarks(warnings) }
}

/** A source of metrics from a function that may reject: what it raises becomes a failed answer. */
export function guardMetricSource(
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

/** A source of log lines from a function that may reject: what it raises becomes a failed answer. */
export function guardLogSource(
  name: string,
  fetchLines: LogSource['fetchLines'],
  report: ReportDefect,
): LogSource {
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

/** A source of documents from a function that may reject: what it raises becomes the problem of the answer. */
export function guardDocumentSource(
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

function reasonOf(raw: unknown, report: ReportDefect): string {
  if (!(raw instanceof AppError)) report(toError(raw))
  return toAppError(raw).message
}
