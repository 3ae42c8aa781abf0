import { respondJson } from './loopback-server.js'
import type { Respond } from './loopback-server.js'

/** A line of a made-up log server. Its time is in milliseconds after the start of the window. */
export interface HeldLine {
  readonly afterMs: number
  readonly text: string
}

/** Returns the lines of a version; the query names it. */
export type LinesOf = (query: string) => readonly HeldLine[]

/**
 * Answers as Loki's `query_range` does, forward and page by page; `firstMs` is when the lines
 * begin.
 */
export function respondAsLoki(linesOf: LinesOf, firstMs: number): Respond {
  return ({ url }, response) => {
    const search = new URL(url, 'http://loki').searchParams
    const [start, end] = [BigInt(search.get('start') ?? 0), BigInt(search.get('end') ?? 0)]
    const values = linesOf(search.get('query') ?? '')
      .map(({ afterMs, text }) => ({ ns: BigInt(Math.round(firstMs + afterMs)) * 1_000_000n, text }))
      .filter(({ ns }) => ns >= start && ns < end)
      .slice(0, Number(search.get('limit')))
      .map(({ ns, text }) => [String(ns), text])
    const result = values.length === 0 ? [] : [{ stream: { app: 'shop' }, values }]
    respondJson(response, 200, { status: 'success', data: { resultType: 'streams', result, stats: {} } })
  }
}

/** Answers as Elasticsearch does to a search of which some shards failed. */
export const respondWithHalfOfTheShards: Respond = ({ method, url }, response) => {
  if (method === 'DELETE') {
    respondJson(response, 200, { succeeded: true, num_freed: 1 })
    return
  }
  if (url.includes('_pit')) {
    respondJson(response, 200, { id: 'pit-1' })
    return
  }
  const failure = {
    shard: 0,
    index: 'logs-1',
    reason: { type: 'node_not_connected_exception', reason: 'gone' },
  }
  respondJson(response, 200, {
    took: 3,
    timed_out: false,
    pit_id: 'pit-1',
    _shards: { total: 4, successful: 2, skipped: 0, failed: 2, failures: [failure] },
    hits: { total: { value: 0, relation: 'eq' }, hits: [] },
  })
}
