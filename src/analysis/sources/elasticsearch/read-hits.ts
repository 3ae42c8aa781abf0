import { z } from 'zod'

import type { ReadAnswer } from '../answers/answer-reading.js'
import { describeRecord } from '../../../canary/index.js'

/** A line; without text if the document lacks the field. */
interface Hit {
  readonly atMs: number
  readonly text: string | undefined
}

/** One page of a search. */
export interface HitPage {
  readonly hits: readonly Hit[]
  /** Sort key of the last hit, at which `search_after` continues. */
  readonly lastSort: readonly unknown[] | undefined
  /** Number of matching documents, if the server counted all of them. */
  readonly total: number | undefined
  readonly shards: number
  /** Why matching documents may be missing. */
  readonly gaps: readonly string[]
  /** The id to use from now on. */
  readonly pointInTime: string | undefined
}

const Answer = z.object({
  timed_out: z.boolean(),
  _shards: z.object({
    total: z.number(),
    failed: z.number(),
    failures: z.array(z.object({ reason: z.object({ reason: z.string().nullish() }).nullish() })).nullish(),
  }),
  hits: z.object({
    total: z.object({ value: z.number(), relation: z.string() }).nullish(),
    hits: z.array(z.unknown()),
  }),
  pit_id: z.string().nullish(),
})

const Document = z.object({ _source: z.unknown(), sort: z.array(z.unknown()).min(1) })

/**
 * Reads an answer to a search incrementally, at most `size` documents. Returns a sentence if it is
 * not an answer.
 */
export function readHits(messageField: string, size: number): ReadAnswer<HitPage | string> {
  const hits: Hit[] = []
  let lastSort: readonly unknown[] | undefined
  let isOther = false
  const add = (raw: unknown): void => {
    const document = Document.safeParse(raw).data
    if (document === undefined) isOther = true
    // A server that sends more than requested sends the rest again with the next page.
    else if (hits.length < size) {
      const { _source, sort } = document
      hits.push({ atMs: toMs(sort[0]), text: describeRecord(_source, messageField) })
      lastSort = sort
    }
  }
  return {
    arrays: { members: { hits: { members: { hits: { take: (documents) => documents.forEach(add) } } } } },
    end: (rest) => {
      const answer = Answer.safeParse(rest)
      if (!answer.success || isOther) return 'the answer is not the JSON of a search'
      return { hits, lastSort, ...about(answer.data) }
    },
  }
}

function about(answer: z.output<typeof Answer>): Omit<HitPage, 'hits' | 'lastSort'> {
  const { timed_out: hasTimedOut, _shards: shards, hits, pit_id: pointInTime } = answer
  return {
    total: hits.total?.relation === 'eq' ? hits.total.value : undefined,
    shards: shards.total,
    gaps: [
      ...(hasTimedOut ? ['the search ran out of time on the server: documents are missing'] : []),
      ...(shards.failed > 0 ? [describeFailedShards(shards)] : []),
    ],
    pointInTime: pointInTime ?? undefined,
  }
}

function describeFailedShards({ total, failed, failures }: z.output<typeof Answer>['_shards']): string {
  const why = failures?.[0]?.reason?.reason
  const because = why === undefined || why === null ? '' : ` (${why.slice(0, 200)})`
  return `${failed} of ${total} shards did not answer: their documents are missing${because}`
}

/** A sort key of a date: a string with nanoseconds, or milliseconds. */
function toMs(key: unknown): number {
  if (typeof key === 'number') return key
  return typeof key === 'string' ? Date.parse(key) : Number.NaN
}
