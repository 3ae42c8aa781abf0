import { AppError } from '../../../errors/app-error.js'
import type { FetchBudget, LinesAnswer, LinesQuery, LineFilter } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { SourceConnection } from '../answers/source-connection.js'
import type { SearchSettings } from '../answers/source-settings.js'
import type { HitPage } from './read-hits.js'
import { ELASTICSEARCH, OPENSEARCH } from './search-dialect.js'
import { SearchPages } from './search-pages.js'
import { fillSearchQuery } from '../templates/fill-search-query.js'

/**
 * Log lines from Elasticsearch or OpenSearch. Raises `invalid` for a template that cannot be filled and where there is no index.
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

/** Raises `invalid` where there is no index to ask, or its name would be another path. */
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

/** What the pages have brought so far. */
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

/** The query of a search for the lines of a window. Raises `invalid` naming everything that is wrong with its template. */
function searchQuery({ query, scope, startMs, endMs, filters = [] }: LinesQuery, timeField: string): object {
  const window = { gte: Math.ceil(startMs), lt: Math.ceil(endMs), format: 'epoch_millis' }
  const wanted = query.trim() === '' ? [] : [fillSearchQuery(query, scope)]
  return { bool: { filter: [{ range: { [timeField]: window } }, ...filters.map(toClause), ...wanted] } }
}

/** As a phrase, which finds the whole value in fields of type keyword and of type text; a term would find it in the first only. */
function toClause({ field, value, match }: LineFilter): object {
  return match === 'exact' ? { match_phrase: { [field]: value } } : { prefix: { [field]: { value } } }
}
