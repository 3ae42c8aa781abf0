import type { FetchBudget, LineLimits, LinesAnswer, LinesQuery } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import { PageSize } from '../answers/page-size.js'
import type { SourceConnection } from '../answers/source-connection.js'
import { wholeWindow } from './lines-api.js'
import type { LinesApi, LinesPage, PageWanted, WholeWindow } from './lines-api.js'

/**
 * Maximum number of consecutive empty pages. A server may search much that does not match, but not
 * endlessly.
 */
const MAX_EMPTY_PAGES = 1000

/** Limits of the lines of a window and of one request. */
interface PageLimits extends LineLimits {
  readonly pageLines: number
}

/** Fetches the lines of a window page by page within the limits. */
export async function fetchLines(
  query: LinesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  { api, limits }: { readonly api: LinesApi; readonly limits: PageLimits },
): Promise<LinesAnswer> {
  const collector = new LineCollector(narrowed(limits, query.limits), query)
  const reading = new LinesOfWindow(collector, api, wholeWindow(query))
  const size = Math.min(limits.pageLines, api.maxPageLines, collector.limits.maxLines + 1)
  const pageSize = new PageSize(size)
  const deadline = connection.startBudget(budget)
  const readPage: ReadPage = (page) =>
    pageSize.read(connection.name, (records) => {
      const wanted: PageWanted = { size: records, page }
      return connection.send(api.request(wanted), deadline, () => api.read(wanted))
    })
  const interruption = await readAll(readPage, reading)
  return linesAnswer({
    ...{ query: api.text, window: query, collector, interruption },
    ...{ gaps: reading.describeGaps(), warnings: [] },
  })
}

/** Reads the page that another one names, or the first; or gives a sentence. */
type ReadPage = (page: string | undefined) => Promise<LinesPage | string>

/**
 * Reads pages until a limit is reached or there are no more. Returns a sentence if it was
 * interrupted.
 */
async function readAll(readPage: ReadPage, reading: LinesOfWindow): Promise<string | undefined> {
  let page: string | undefined
  for (let empty = 0; empty < MAX_EMPTY_PAGES;) {
    const read = await readPage(page)
    if (typeof read === 'string') return read
    empty = read.lines.length === 0 ? empty + 1 : 0
    if (!reading.add(read)) return undefined
    if (read.nextPage === undefined) return read.brokenOff
    if (read.nextPage === page) return 'the server gave the same page twice'
    page = read.nextPage
  }
  return `the server gave ${MAX_EMPTY_PAGES} pages without a line: narrow the query or the window`
}

/** The lines of the pages so far. */
class LinesOfWindow {
  readonly #collector: LineCollector
  readonly #api: LinesApi
  readonly #window: WholeWindow
  readonly #gaps = new Set<string>()
  #seen = 0
  #withoutText = 0
  #withoutTime = 0
  #outside = 0

  constructor(collector: LineCollector, api: LinesApi, window: WholeWindow) {
    this.#collector = collector
    this.#api = api
    this.#window = window
  }

  /** Takes a page; false when a limit is reached. */
  add({ lines, gaps = [] }: LinesPage): boolean {
    for (const gap of gaps) this.#gaps.add(gap)
    return lines.every(({ atMs, text }) => {
      this.#seen += 1
      if (Number.isNaN(atMs)) this.#withoutTime += 1
      else if (atMs < this.#window.startMs || atMs > this.#window.endMs) this.#outside += 1
      else if (text === undefined) this.#withoutText += 1
      // Some servers take the end of the window to be part of it.
      else if (atMs < this.#window.endMs) return this.#collector.add(atMs, text)
      return true
    })
  }

  describeGaps(): string[] {
    const of = (count: number, what: string): string[] =>
      count === 0 ? [] : [`${count} of ${this.#seen} events ${what}`]
    return [
      ...this.#gaps,
      ...of(this.#withoutText, `have no text in ${this.#api.textField}`),
      ...of(this.#withoutTime, 'have no time that can be read'),
      ...of(this.#outside, 'are outside of the requested window: check the clock of the server'),
    ]
  }
}
