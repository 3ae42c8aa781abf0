import type { Respond } from '../../../support/loopback-server.js'
import { respondJson } from '../../../support/loopback-server.js'
import { START_MS } from '../../../support/open-source.js'

export interface Document {
  /** Milliseconds after `START_MS`. */
  readonly ms: number
  readonly source: Readonly<Record<string, unknown>>
}

export interface SearchRequestBody {
  readonly size: number
  readonly query: unknown
  readonly sort: readonly unknown[]
  readonly pit: { readonly id: string; readonly keep_alive: string }
  readonly search_after?: readonly unknown[]
  readonly track_total_hits: boolean
  readonly _source: readonly string[]
}

/** A test's change of the answers to searches. */
export type Change = (answer: Readonly<Record<string, unknown>>, nthSearch: number) => unknown

/**
 * Answers as Elasticsearch does: opens a point in time, returns its documents after `search_after`,
 * closes it.
 */
export function servingElasticsearch(
  documents: readonly Document[],
  change: Change = (answer) => answer,
): Respond {
  let searches = 0
  const answerSearch = (body: string): unknown => {
    searches += 1
    const answer = search(documents, JSON.parse(body) as SearchRequestBody, toShardDocKey)
    return change({ ...answer, pit_id: `pit-${searches + 1}` }, searches)
  }
  return ({ method, url, body }, response) => {
    if (method === 'DELETE') respondJson(response, 200, { succeeded: true, num_freed: 1 })
    else if (url.includes('_pit')) respondJson(response, 200, { id: 'pit-1' })
    else respondJson(response, 200, answerSearch(body))
  }
}

/** Answers as OpenSearch does. */
export function servingOpenSearch(documents: readonly Document[]): Respond {
  const shards = { total: 1, successful: 1, failed: 0 }
  return ({ method, url, body }, response) => {
    if (method === 'DELETE') respondJson(response, 200, { pits: [{ successful: true, pit_id: 'os-1' }] })
    else if (url.includes('point_in_time')) respondJson(response, 200, { pit_id: 'os-1', _shards: shards })
    else respondJson(response, 200, search(documents, JSON.parse(body) as SearchRequestBody, toIdKey))
  }
}

type SortKey = (document: Document, index: number) => readonly unknown[]

/** An ISO string with nanoseconds, and the implicit `_shard_doc`. */
function toShardDocKey({ ms }: Document, index: number): readonly unknown[] {
  return [new Date(START_MS + ms).toISOString().replace('Z', '123456Z'), 4_294_967_296 + index]
}

function toIdKey({ ms }: Document, index: number): readonly unknown[] {
  return [START_MS + ms, `id-${index}`]
}

function search(
  documents: readonly Document[],
  { size, search_after: after, track_total_hits: isCounting }: SearchRequestBody,
  toKey: SortKey,
): Record<string, unknown> {
  const hits = documents.map((document, index) => ({
    _index: 'logs-1',
    _id: `id-${index}`,
    _source: document.source,
    sort: toKey(document, index),
  }))
  const first = after === undefined ? 0 : hits.findIndex(({ sort }) => String(sort) === String(after)) + 1
  return {
    took: 2,
    timed_out: false,
    _shards: { total: 4, successful: 4, skipped: 0, failed: 0 },
    hits: {
      ...(isCounting ? { total: { value: documents.length, relation: 'eq' } } : {}),
      max_score: null,
      hits: hits.slice(first, first + size),
    },
  }
}

/** Documents with a message, a millisecond apart. */
export function messages(count: number): Document[] {
  return Array.from({ length: count }, (_, index) => ({ ms: index, source: { message: `line ${index}` } }))
}
