import type { ReadAnswer } from '../answers/answer-reading.js'
import type { SourceRequest } from '../answers/source-connection.js'

/** A line from a server; without text if the event lacks the named field. */
export interface ServedLine {
  /** In ms since the epoch; NaN if it cannot be read. */
  readonly atMs: number
  readonly text: string | undefined
}

/** One page of lines, in order of time. */
export interface LinesPage {
  readonly lines: readonly ServedLine[]
  /** The token of the next page, if there is one. */
  readonly nextPage?: string | undefined
  /** Why later lines cannot be fetched, if so. */
  readonly brokenOff?: string
  /** Why something may be missing, as whole sentences. */
  readonly gaps?: readonly string[]
}

/** The requested page. */
export interface PageWanted {
  readonly size: number
  /** As the page before gave it; undefined for the first. */
  readonly page: string | undefined
}

/** The requests to one server for the lines of one query, with its placeholders filled. */
export interface LinesApi {
  /** The query as reports show it. */
  readonly text: string
  readonly request: (wanted: PageWanted) => SourceRequest
  /** Reads an answer incrementally: a page, or a sentence that says why it is not one. */
  readonly read: (wanted: PageWanted) => ReadAnswer<LinesPage | string>
  /** Maximum number of lines in one request. */
  readonly maxPageLines: number
  /** The field that an event without text lacks, as the end of a sentence. */
  readonly textField: string
}

/** A window in whole ms; its end is no longer part of it. */
export interface WholeWindow {
  readonly startMs: number
  readonly endMs: number
}

/** The times in whole ms that are in a window. */
export function wholeWindow({ startMs, endMs }: WholeWindow): WholeWindow {
  return { startMs: Math.ceil(startMs), endMs: Math.ceil(endMs) }
}
