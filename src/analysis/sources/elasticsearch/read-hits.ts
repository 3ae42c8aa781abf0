import { z } from 'zod'

import { fieldValue, textOf } from '../field-value.js'

/** One page of a search. */
export interface HitPage {
  /** A line each; without text where the document has no such field. */
  readonly hits: readonly { readonly atMs: number; readonly text: string | undefined }[]
  /** Of the last hit: what `search_after` goes on from. */
  readonly lastSort: readonly unknown[] | undefined
  /** How many documents match, where the server counted them all. */
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
    hits: z.array(z.object({ _source: z.unknown(), sort: z.array(z.unknown()).min(1) })),
  }),
  pit_id: z.string().nullish(),
})

/** The hits in the answer to a search; a sentence where it is none. */
export function readHits(json: unknown, messageField: string): HitPage | string {
  const answer = Answer.safeParse(json)
  if (!answer.success) return 'the answer is not the JSON of a search'
  const { timed_out: hasTimedOut, _shards: shards, hits, pit_id: pointInTime } = answer.data
  return {
    hits: hits.hits.map(({ _source, sort }) => ({
      atMs: toMs(sort[0]),
      text: textOf(fieldValue(_source, messageField)),
    })),
    lastSort: hits.hits.at(-1)?.sort,
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

/** A sort key of a date: text with nanoseconds, or milliseconds. */
function toMs(key: unknown): number {
  if (typeof key === 'number') return key
  return typeof key === 'string' ? Date.parse(key) : Number.NaN
}
