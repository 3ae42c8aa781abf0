import { z } from 'zod'

import { queryResult } from '../answers/answer-reading.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { BoundedRemarks } from '../answers/answers.js'

/** A line of a stream. */
export interface StreamEntry {
  readonly atNs: bigint
  /** The stream and the text, which distinguish the entries of an instant. */
  readonly identity: string
  readonly text: string
}

export interface StreamPage {
  /** In order of time. */
  readonly entries: readonly StreamEntry[]
  /** Number of entries beyond the requested ones, which were ignored. */
  readonly surplus: number
  /** Bounded, as `BoundedRemarks` does. */
  readonly warnings: readonly string[]
}

const Answer = z.object({
  status: z.literal('success'),
  data: z.object({ resultType: z.string(), result: z.array(z.unknown()) }),
})
const Stream = z.object({ stream: z.record(z.string(), z.string()), values: z.array(z.unknown()) })
/** The third element, when there is one, is structured metadata. */
const Value = z.tuple([z.string().regex(/^\d{1,19}$/), z.string()]).rest(z.unknown())

/** The labels of a stream, which may follow its lines. */
interface StreamLabels {
  text: string
}

/**
 * Reads an answer to a log query of Loki's `query_range` incrementally, at most `size` lines.
 * Returns a sentence if it is not an answer.
 */
export function readStreams(size: number): ReadAnswer<StreamPage | string> {
  const reading = new StreamsAnswer(size)
  return {
    arrays: queryResult(
      {
        isOneByOne: true,
        take: (streams) => streams.forEach((stream) => reading.endStream(stream)),
        elements: {
          members: { values: { take: (values) => values.forEach((value) => reading.addValue(value)) } },
        },
      },
      { warnings: { take: (texts) => texts.forEach((text) => reading.addWarning(text)) } },
    ),
    end: (rest) => reading.problemOf(rest) ?? reading.page(),
  }
}

class StreamsAnswer {
  readonly #size: number
  readonly #entries: { readonly atNs: bigint; readonly labels: StreamLabels; readonly text: string }[] = []
  readonly #warnings = new BoundedRemarks()
  #labels: StreamLabels = { text: '' }
  #surplus = 0
  #isUnreadable = false
  #isOther = false

  constructor(size: number) {
    this.#size = size
  }

  addValue(raw: unknown): void {
    const value = Value.safeParse(raw).data
    if (value === undefined) this.#isUnreadable = true
    else if (this.#entries.length >= this.#size) this.#surplus += 1
    else this.#entries.push({ atNs: BigInt(value[0]), labels: this.#labels, text: value[1] })
  }

  /** A stream without its lines, which have been taken. */
  endStream(raw: unknown): void {
    const stream = Stream.safeParse(raw).data
    if (stream === undefined) this.#isUnreadable = true
    else this.#labels.text = JSON.stringify(stream.stream)
    this.#labels = { text: '' }
  }

  addWarning(text: unknown): void {
    if (typeof text === 'string') this.#warnings.add(text)
    else this.#isOther = true
  }

  problemOf(rest: unknown): string | undefined {
    const answer = Answer.safeParse(rest)
    if (!answer.success || this.#isOther) return 'the answer is not the JSON of a log query'
    if (answer.data.data.resultType !== 'streams')
      return 'the query gives numbers, where log lines are wanted'
    return this.#isUnreadable ? 'the answer has a stream that cannot be read' : undefined
  }

  page(): StreamPage {
    const entries = this.#entries.map(({ atNs, labels, text }) => {
      return { atNs, identity: `${labels.text} ${text}`, text }
    })
    return { entries: entries.sort(byTime), surplus: this.#surplus, warnings: this.#warnings.list() }
  }
}

function byTime(one: StreamEntry, other: StreamEntry): number {
  return one.atNs < other.atNs ? -1 : one.atNs > other.atNs ? 1 : 0
}
