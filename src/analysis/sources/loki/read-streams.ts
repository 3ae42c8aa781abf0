import { z } from 'zod'

/** A line of a stream. */
export interface StreamEntry {
  readonly atNs: bigint
  /** The stream and the text: what tells one entry of an instant from the others. */
  readonly identity: string
  readonly text: string
}

export interface StreamPage {
  /** In order of time. */
  readonly entries: readonly StreamEntry[]
  readonly warnings: readonly string[]
}

const Answer = z.object({
  status: z.literal('success'),
  data: z.object({ resultType: z.string(), result: z.array(z.unknown()) }),
  warnings: z.array(z.string()).nullish(),
})

const Streams = z.array(
  z.object({
    stream: z.record(z.string(), z.string()),
    // The third element, when there is one, is structured metadata.
    values: z.array(z.tuple([z.string().regex(/^\d{1,19}$/), z.string()]).rest(z.unknown())),
  }),
)

/** The lines in the answer to a log query of Loki's `query_range`; a sentence where it is none. */
export function readStreams(json: unknown): StreamPage | string {
  const answer = Answer.safeParse(json)
  if (!answer.success) return 'the answer is not the JSON of a log query'
  const { data, warnings } = answer.data
  if (data.resultType !== 'streams') return 'the query gives numbers, where log lines are wanted'
  const streams = Streams.safeParse(data.result)
  if (!streams.success) return 'the answer has a stream that cannot be read'
  const entries = streams.data.flatMap(({ stream, values }) => {
    const labels = JSON.stringify(stream)
    return values.map(([ns, text]) => ({ atNs: BigInt(ns), identity: `${labels} ${text}`, text }))
  })
  return { entries: entries.sort(byTime), warnings: warnings ?? [] }
}

function byTime(one: StreamEntry, other: StreamEntry): number {
  return one.atNs < other.atNs ? -1 : one.atNs > other.atNs ? 1 : 0
}
