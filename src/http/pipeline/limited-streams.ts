import { AppError } from '../../errors/app-error.js'

/** Streams of one kind that may run at a time, since each holds some memory for as long as its reader takes. */
export class LimitedStreams {
  readonly #max: number
  readonly #what: string
  #running = 0

  /** `what` names them in the plural, for who is refused. */
  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  /**
   * The body made of these chunks, once the first of them is there: what raises until then is told in an answer of its own. Raises `unavailable`
   * where as many as may run are running.
   */
  async start(
    chunks: AsyncGenerator<Uint8Array, void>,
    failed: StreamEnds['failed'],
  ): Promise<ReadableStream<Uint8Array>> {
    if (this.#running >= this.#max) {
      throw new AppError('unavailable', `${this.#max} ${this.#what} are running already; try again`)
    }
    this.#running += 1
    const ended = (): void => {
      this.#running -= 1
    }
    try {
      return byteStream(prepend(await chunks.next(), chunks), { failed, ended })
    } catch (raw) {
      ended()
      throw raw
    }
  }
}

async function* prepend(
  first: IteratorResult<Uint8Array, void>,
  others: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done === true) return
  yield first.value
  yield* others
}

/** What is told how a body ended. */
export interface StreamEnds {
  /** It cannot be made to its end: must break the connection off, since what sends it would end it as if it were whole. */
  readonly failed: (error: unknown) => void
  /** Called once, however it ended. */
  readonly ended?: () => void
}

/**
 * A body that is made while it is sent, at the pace of its reader; ends early when the reader goes. What goes wrong in between breaks
 * the connection off, so that nobody takes what came for all of it.
 */
export function byteStream(
  chunks: AsyncGenerator<Uint8Array, void>,
  { failed, ended = () => undefined }: StreamEnds,
): ReadableStream<Uint8Array> {
  let isOver = false
  const end = (): void => {
    if (!isOver) ended()
    isOver = true
  }
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const step = await chunks.next()
        if (isOver) return
        if (step.done !== true) {
          controller.enqueue(step.value)
          return
        }
      } catch (error) {
        failed(error)
      }
      // After a failure too: an error of the stream would be printed by the library that reads it.
      controller.close()
      end()
    },
    cancel: async () => {
      end()
      await chunks.return(undefined)
    },
  })
}
