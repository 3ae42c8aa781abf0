import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import type { FetchBudget, LinesAnswer, LinesQuery, LineFilter } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { SourceConnection, Deadline, Reply, SourceRequest } from '../answers/source-connection.js'
import type { SearchSettings } from '../answers/source-settings.js'
import type { HitPage } from './read-hits.js'
import { fillSearchQuery } from '../templates/fill-search-query.js'
import { wholeAnswer } from '../answers/answer-reading.js'
import { PageSize } from '../answers/page-size.js'
import { readHits } from './read-hits.js'
import { RECORD_FIELDS } from '../../../canary/index.js'

const ElasticsearchPoint = z.object({ id: z.string().min(1) })

const OpenSearchPoint = z.object({ pit_id: z.string().min(1) })

/** From 7.12 on: searches in a point in time have `_shard_doc` as an implicit last sort key. */
const ELASTICSEARCH: SearchDialect = {
  openPointInTime: (index, keepAlive) => ({
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_pit`,
    search: { keep_alive: keepAlive },
  }),
  readPointInTime: (json) => ElasticsearchPoint.safeParse(json).data?.id,
  closePointInTime: (id) => ({ method: 'DELETE', path: '/_pit', json: { id } }),
  // As a string: nanoseconds as a number would lose digits in JSON.
  sort: (timeField) => [
    {
      [timeField]: {
        order: 'asc',
        format: 'strict_date_optional_time_nanos',
        numeric_type: 'date_nanos',
      },
    },
  ],
}

/** From 2.4 on. It knows `_shard_doc` from 3.3 on only, so that `_id` breaks the ties. */
const OPENSEARCH: SearchDialect = {
  openPointInTime: (index, keepAlive) => ({
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_search/point_in_time`,
    search: { keep_alive: keepAlive },
  }),
  readPointInTime: (json) => OpenSearchPoint.safeParse(json).data?.pit_id,
  closePointInTime: (id) => ({
    method: 'DELETE',
    path: '/_search/point_in_time',
    json: { pit_id: [id] },
  }),
  sort: (timeField) => [{ [timeField]: { order: 'asc', numeric_type: 'date' } }, { _id: 'asc' }],
}

/**
 * Fetches log lines from Elasticsearch or OpenSearch. Raises `invalid` for a template that cannot
 * be filled and for a missing index.
 */
export async function fetchSearchLines(
  query: LinesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  settings: SearchSettings,
): Promise<LinesAnswer> {
  const { type, timeField, pageLines } = settings
  const dialect = type === 'elasticsearch' ? ELASTICSEARCH : OPENSEARCH
  const messageField = query.messageField ?? settings.messageField
  const search = searchQuery(query, timeField)
  const index = checkIndex(query.index ?? settings.index)
  const reading = new HitReading(new LineCollector(narrowed(settings, query.limits), query), messageField)
  const size = Math.min(pageLines, reading.collector.limits.maxLines + 1)
  const wanted = { index, query: search, timeField, messageField, size }
  const pages = new SearchPages(connection, dialect, connection.startBudget(budget), wanted)
  const interruption = await pages.readAll((page) => reading.add(page))
  return linesAnswer({
    query: JSON.stringify(search),
    window: query,
    collector: reading.collector,
    omittedLines: reading.omittedLines,
    interruption,
    gaps: reading.describeGaps(),
    warnings: pages.warnings,
  })
}

/** Raises `invalid` if the index is missing, or if its name would be another path. */
function checkIndex(index: string | undefined): string {
  if (index === undefined) {
    throw new AppError('invalid', 'no index to search: name it in the log template or in the source')
  }
  if (/^\.{1,2}$/.test(index) || !/^[^\s/\\?"<>|#]+$/.test(index)) {
    throw new AppError(
      'invalid',
      `the index ${JSON.stringify(index)} cannot be the name or pattern of an index`,
    )
  }
  return index
}

/** The lines of the pages so far. */
class HitReading {
  readonly collector: LineCollector
  readonly #messageField: string
  readonly #gaps = new Set<string>()
  #total: number | undefined
  #seen = 0
  #withoutText = 0

  constructor(collector: LineCollector, messageField: string) {
    this.collector = collector
    this.#messageField = messageField
  }

  /** Takes a page; false when a limit is reached. */
  add({ hits, total, gaps }: HitPage): boolean {
    for (const gap of gaps) this.#gaps.add(gap)
    this.#total ??= total
    return hits.every(({ atMs, text }) => {
      const isTaken = text === undefined || this.collector.add(atMs, text)
      if (isTaken) this.#seen += 1
      if (text === undefined) this.#withoutText += 1
      return isTaken
    })
  }

  get omittedLines(): number | undefined {
    return this.#total === undefined ? undefined : Math.max(0, this.#total - this.#seen)
  }

  describeGaps(): string[] {
    if (this.#withoutText === 0) return [...this.#gaps]
    return [
      ...this.#gaps,
      `${this.#withoutText} of ${this.#seen} documents have no text in the field ${this.#messageField}`,
    ]
  }
}

/**
 * The query of a search for the lines of a window. Raises `invalid` with all problems of its
 * template.
 */
function searchQuery({ query, scope, startMs, endMs, filters = [] }: LinesQuery, timeField: string): object {
  const window = { gte: Math.ceil(startMs), lt: Math.ceil(endMs), format: 'epoch_millis' }
  const wanted = query.trim() === '' ? [] : [fillSearchQuery(query, scope)]
  return { bool: { filter: [{ range: { [timeField]: window } }, ...filters.map(toClause), ...wanted] } }
}

/**
 * A phrase finds the whole value in fields of type keyword and text; a term would only do so in the
 * former.
 */
function toClause({ field, value, match }: LineFilter): object {
  return match === 'exact' ? { match_phrase: { [field]: value } } : { prefix: { [field]: { value } } }
}

/** Fields of a document with its level, its request and its error. */
const READ_FIELDS = Object.entries(RECORD_FIELDS).flatMap(([kind, fields]) => (kind === 'time' ? [] : fields))

/** The query and the index of a search. */
interface WantedHits {
  readonly index: string
  readonly query: object
  readonly timeField: string
  readonly messageField: string
  /** Documents a page. */
  readonly size: number
}

/** How long the server keeps the point in time between two pages. */
const KEEP_ALIVE = '1m'
/** For giving the point in time back, after the budget of the fetch if need be. */
const CLOSING_MS = 2000

/**
 * All pages of one search at one point in time, so that documents indexed later do not shift them.
 */
class SearchPages {
  readonly warnings: string[] = []
  readonly #connection: SourceConnection
  readonly #dialect: SearchDialect
  readonly #deadline: Deadline
  readonly #wanted: WantedHits
  readonly #size: PageSize

  constructor(connection: SourceConnection, dialect: SearchDialect, deadline: Deadline, wanted: WantedHits) {
    this.#connection = connection
    this.#dialect = dialect
    this.#deadline = deadline
    this.#wanted = wanted
    this.#size = new PageSize(wanted.size)
  }

  /**
   * Passes on page after page until `take` returns false or there are no more. Returns a sentence
   * if it was interrupted.
   */
  async readAll(take: (page: HitPage) => boolean): Promise<string | undefined> {
    const { index } = this.#wanted
    const opened = await this.#connection.send(
      this.#dialect.openPointInTime(index, KEEP_ALIVE),
      this.#deadline,
      wholeAnswer,
    )
    if (!opened.isAnswered) return opened.problem
    const first = this.#dialect.readPointInTime(opened.answer)
    if (first === undefined) {
      return `${this.#connection.name}: the answer to opening a point in time has no id: is it the right type of server?`
    }
    const state: PagingState = { pointInTime: first, after: undefined }
    try {
      return await this.#readFrom(state, take)
    } finally {
      await this.#close(state.pointInTime)
    }
  }

  async #readFrom(state: PagingState, take: (page: HitPage) => boolean): Promise<string | undefined> {
    for (;;) {
      const page = await this.#size.read(this.#connection.name, (records) => this.#search(state, records))
      if (typeof page === 'string') return page
      if (page.shards === 0) return `${this.#connection.name}: no index matches ${this.#wanted.index}`
      state.pointInTime = page.pointInTime ?? state.pointInTime
      state.after = page.lastSort
      if (!take(page) || page.hits.length < this.#size.records) return undefined
    }
  }

  #search({ pointInTime, after }: PagingState, size: number): Promise<Reply<HitPage | string>> {
    const { query, timeField, messageField } = this.#wanted
    const json = {
      size,
      query,
      sort: this.#dialect.sort(timeField),
      pit: { id: pointInTime, keep_alive: KEEP_ALIVE },
      _source: [messageField, ...READ_FIELDS],
      // Counting is slow, and the number does not change within a point in time.
      track_total_hits: after === undefined,
      ...(after === undefined ? {} : { search_after: after }),
    }
    return this.#connection.send({ method: 'POST', path: '/_search', json }, this.#deadline, () =>
      readHits(messageField, size),
    )
  }

  async #close(pointInTime: string): Promise<void> {
    const deadline = this.#connection.startBudget({ budgetMs: CLOSING_MS })
    const reply = await this.#connection.send(
      this.#dialect.closePointInTime(pointInTime),
      deadline,
      wholeAnswer,
    )
    if (!reply.isAnswered) this.warnings.push(`the point in time stays open for a minute: ${reply.problem}`)
  }
}

interface PagingState {
  pointInTime: string
  after: readonly unknown[] | undefined
}

/** Differences between Elasticsearch and OpenSearch. */
interface SearchDialect {
  readonly openPointInTime: (index: string, keepAlive: string) => SourceRequest
  /** The id of the point in time in the answer to opening it. */
  readonly readPointInTime: (json: unknown) => string | undefined
  readonly closePointInTime: (id: string) => SourceRequest
  /** An order without ties, so that `search_after` leaves nothing out. */
  readonly sort: (timeField: string) => readonly unknown[]
}
