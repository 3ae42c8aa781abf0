import type { FetchBudget, LinesAnswer, LinesQuery, LineFilter } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { Deadline, Reply, SourceConnection } from '../answers/source-connection.js'
import type { LokiSettings } from '../answers/source-settings.js'
import { readStreams } from './read-streams.js'
import type { StreamPage, StreamEntry } from './read-streams.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { DOUBLE_QUOTED, PATTERN, within } from '../templates/escape-contexts.js'

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
      gaps.add(`the server returned more lines than requested: ${page.surplus} are left out`)
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

/** Fetches pages, smaller ones if the server or the limit of bytes requires it. */
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
      const reply = await this.#connection.send(
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

/** The size of a smaller page that may succeed. */
function smallerSize(
  reply: Extract<Reply<unknown>, { isAnswered: false }>,
  size: number,
): number | undefined {
  const allowed = /max entries limit.*\(\d+ > (?<limit>\d+)\)/.exec(reply.problem)?.groups?.['limit']
  const smaller = allowed === undefined ? Math.floor(size / 2) : Math.min(Number(allowed), size - 1)
  const isAboutSize = reply.isTooLarge || allowed !== undefined
  return isAboutSize && smaller >= MIN_PAGE_LINES ? smaller : undefined
}

/** Start of the next page, and its known entries. */
interface StreamCursor {
  readonly startNs: bigint
  /** Number of times that each entry at `startNs` was returned, by its identity. */
  readonly seen: ReadonlyMap<string, number>
}

/** The result of a page, and the next step. */
interface PageStep {
  readonly fresh: readonly StreamEntry[]
  readonly next: StreamCursor
  /**
   * The page was full of a single instant. Its other entries cannot be reached, since pages are
   * addressed by time only.
   */
  readonly isStuck: boolean
}

/** Before the first page. */
function firstCursor(startMs: number): StreamCursor {
  return { startNs: BigInt(Math.ceil(startMs)) * 1_000_000n, seen: new Map() }
}

/**
 * Continues after a page that may not be the last. The next page starts at the last instant of this
 * one, since more entries of that instant may follow; known entries are then dropped.
 */
function stepOver(page: readonly StreamEntry[], { startNs, seen }: StreamCursor): PageStep {
  const fresh = dropSeen(page, startNs, seen)
  const lastNs = page.at(-1)?.atNs ?? startNs
  const isStuck = lastNs === startNs
  const next: StreamCursor = isStuck
    ? { startNs: startNs + 1n, seen: new Map() }
    : { startNs: lastNs, seen: countAt(page, lastNs) }
  return { fresh, next, isStuck }
}

function dropSeen(
  page: readonly StreamEntry[],
  startNs: bigint,
  seen: ReadonlyMap<string, number>,
): readonly StreamEntry[] {
  if (seen.size === 0) return page
  const left = new Map(seen)
  return page.filter(({ atNs, identity }) => {
    const count = atNs === startNs ? (left.get(identity) ?? 0) : 0
    if (count > 0) left.set(identity, count - 1)
    return count === 0
  })
}

function countAt(page: readonly StreamEntry[], ns: bigint): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { atNs, identity } of page) {
    if (atNs === ns) counts.set(identity, (counts.get(identity) ?? 0) + 1)
  }
  return counts
}

const IN_PATTERN = within(DOUBLE_QUOTED, PATTERN)

/**
 * The LogQL of a query: its filled template, and its filters as label filters after it, or as the
 * selector without a template. Raises `invalid` with all problems.
 */
function logQuery({ query, scope, filters = [] }: LinesQuery): string {
  const matchers = filters.map(matcher)
  if (query.trim() === '' && matchers.length > 0) return `{${matchers.join(', ')}}`
  // On a line of its own: the template may end in a comment.
  return [fillLabelQuery(query, scope), ...matchers.map((text) => `| ${text}`)].join('\n')
}

/** Loki's labels have underscores where fields have dots. */
function matcher({ field, value, match }: LineFilter): string {
  const label = field.replace(/\W/g, '_').replace(/^(?=\d)/, '_')
  return match === 'exact'
    ? `${label}="${DOUBLE_QUOTED.escape(value) ?? ''}"`
    : `${label}=~"${IN_PATTERN.escape(value) ?? ''}.*"`
}
