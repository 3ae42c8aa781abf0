import { wholeAnswer } from '../answers/answer-reading.js'
import { PageSize } from '../answers/page-size.js'
import type { Deadline, Reply, SourceConnection } from '../answers/source-connection.js'
import { readHits } from './read-hits.js'
import type { HitPage } from './read-hits.js'
import type { SearchDialect } from './search-dialect.js'
import { RECORD_FIELDS } from '../../../canary/index.js'

/** What a document says of its level, its request and its error beside its message. */
const READ_FIELDS = Object.entries(RECORD_FIELDS).flatMap(([kind, fields]) => (kind === 'time' ? [] : fields))

/** What to search for, and where. */
export interface WantedHits {
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

/** All pages of one search, at one point in time, so that what is indexed meanwhile shifts none. */
export class SearchPages {
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

  /** Hands over page by page until one is not taken or there are no more; gives a sentence where it had to break off. */
  async readAll(take: (page: HitPage) => boolean): Promise<string | undefined> {
    const { index } = this.#wanted
    const opened = await this.#connection.ask(
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
      // Counting is dear, and the number stays the same within a point in time.
      track_total_hits: after === undefined,
      ...(after === undefined ? {} : { search_after: after }),
    }
    return this.#connection.ask({ method: 'POST', path: '/_search', json }, this.#deadline, () =>
      readHits(messageField, size),
    )
  }

  async #close(pointInTime: string): Promise<void> {
    const deadline = this.#connection.startBudget({ budgetMs: CLOSING_MS })
    const reply = await this.#connection.ask(
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
