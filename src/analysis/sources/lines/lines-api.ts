import type { ReadAnswer } from '../answers/answer-reading.js'
import type { SourceRequest } from '../answers/source-connection.js'

/** A line as a server gave it; without text where the event has none in the field that was named. */
export interface ServedLine {
  /** In ms since the epoch, NaN where it cannot be read. */
  readonly atMs: number
  readonly text: string | undefined
}

/** One page of lines, in order of time. */
export interface LinesPage {
  readonly lines: readonly ServedLine[]
  /** How the next page is asked for, where there is one. */
  readonly nextPage?: string | undefined
  /** Why what follows these lines cannot be had, where that is so. */
  readonly brokenOff?: string
  /** Why something may be missing, as whole sentences. */
  readonly gaps?: readonly string[]
}

/** Which page is asked for. */
export interface PageWanted {
  readonly size: number
  /** As the page before gave it; undefined for the first. */
  readonly page: string | undefined
}

/** How one server is asked for the lines of one query, its placeholders filled. */
export interface LinesApi {
  /** The query as reports show it. */
  readonly text: string
  readonly request: (wanted: PageWanted) => SourceRequest
  /** Reads an answer while it comes: a page, or why it is none, as a sentence. */
  readonly read: (wanted: PageWanted) => ReadAnswer<LinesPage | string>
  /** The most lines that one request may ask for. */
  readonly maxPageLines: number
  /** What an event without text lacks, as the end of a sentence. */
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
