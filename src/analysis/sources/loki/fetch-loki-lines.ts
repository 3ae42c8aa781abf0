import type { FetchBudget, LinesAnswer, LinesQuery } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { Deadline, Reply, SourceConnection } from '../answers/source-connection.js'
import type { LokiSettings } from '../answers/source-settings.js'
import { logQuery } from './log-query.js'
import { readStreams } from './read-streams.js'
import type { StreamPage } from './read-streams.js'
import { firstCursor, stepOver } from './stream-cursor.js'

export const LOKI_RANGE_PATH = '/loki/api/v1/query_range'

/** One line a page would never get past an instant. */
const MIN_PAGE_LINES = 2

/** Log lines from Loki. Raises `invalid` for a template that cannot be filled. */
export async function fetchLokiLines(
  query: LinesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  settings: LokiSettings,
): Promise<LinesAnswer> {
  const text = logQuery(query)
  const collector = new LineCollector(narrowed(settings, query.limits), query)
  const warnings = new Set<string>()
  const gaps = new Set<string>()
  const size = Math.min(settings.pageLines, collector.limits.maxLines + 1)
  const pages = new PageReader(connection, connection.startBudget(budget), size)
  let cursor = firstCursor(query.startMs)
  let interruption: string | undefined
  for (;;) {
    const page = await pages.read(text, cursor.startNs, query.endMs)
    if (typeof page === 'string') {
      interruption = page
      break
    }
    for (const warning of page.warnings) gaps.add(`the server warns: ${warning}`)
    if (page.surplus > 0)
      gaps.add(`the server gave more lines than it was asked for: ${page.surplus} are left out`)
    const { fresh, next, isStuck } = stepOver(page.entries, cursor)
    const isTaken = fresh.every((entry) => collector.add(Number(entry.atNs / 1_000_000n), entry.text))
    if (!isTaken || page.entries.length < pages.size) break
    if (isStuck) gaps.add(`one instant has more than ${pages.size} lines, of which the rest cannot be read`)
    cursor = next
  }
  return linesAnswer({
    query: text,
    window: query,
    collector,
    interruption,
    gaps: [...gaps],
    warnings: [...warnings],
  })
}

/** Asks for pages, smaller ones where the server or our own limit of bytes wants them so. */
class PageReader {
  size: number
  readonly #connection: SourceConnection
  readonly #deadline: Deadline

  constructor(connection: SourceConnection, deadline: Deadline, size: number) {
    this.#connection = connection
    this.#deadline = deadline
    this.size = size
  }

  /** The lines from an instant on, or a sentence. */
  async read(query: string, startNs: bigint, endMs: number): Promise<StreamPage | string> {
    for (;;) {
      const search = {
        query,
        start: String(startNs),
        end: `${Math.ceil(endMs)}000000`,
        limit: String(this.size),
        direction: 'forward',
      }
      const reply = await this.#connection.ask(
        { method: 'GET', path: LOKI_RANGE_PATH, search },
        this.#deadline,
        () => readStreams(this.size),
      )
      if (reply.isAnswered) {
        const { answer: page } = reply
        return typeof page === 'string' ? `${this.#connection.name}: ${page}` : page
      }
      const smaller = smallerSize(reply, this.size)
      if (smaller === undefined) return reply.problem
      this.size = smaller
    }
  }
}

/** The page to ask for instead, where a smaller one may be answered. */
function smallerSize(
  reply: Extract<Reply<unknown>, { isAnswered: false }>,
  size: number,
): number | undefined {
  const allowed = /max entries limit.*\(\d+ > (?<limit>\d+)\)/.exec(reply.problem)?.groups?.['limit']
  const smaller = allowed === undefined ? Math.floor(size / 2) : Math.min(Number(allowed), size - 1)
  const isAboutSize = reply.isTooLarge || allowed !== undefined
  return isAboutSize && smaller >= MIN_PAGE_LINES ? smaller : undefined
}
