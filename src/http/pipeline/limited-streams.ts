import { AppError } from '../../errors/app-error.js'

/** Limits concurrent streams of one kind, since each holds memory until its reader is done. */
export class LimitedStreams {
  readonly #max: number
  readonly #what: string
  #running = 0

  /** `what` names the streams in the plural, for the error. */
  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  /**
   * Starts a stream and waits for its first chunk, so that earlier errors become an error response.
   * Raises `unavailable` if the maximum number of streams is running.
   */
  async start(
    chunks: AsyncGenerator<Uint8Array, void>,
    failed: StreamEnds['failed'],
  ): Promise<ReadableStream<Uint8Array>> {
    if (this.#running >= this.#max) {
      throw new AppError('unavailable', `${this.#max} ${this.#what} are already running; retry later`)
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

/** Callbacks for the end of a stream. */
export interface StreamEnds {
  /** The stream failed. Must close the connection; otherwise the response would look complete. */
  readonly failed: (error: unknown) => void
  /** Called once at the end, whatever the outcome. */
  readonly ended?: () => void
}

/** Creates a stream at the pace of its reader, which ends early if the reader disconnects. */
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
      // Close after a failure, too: the HTTP library would print a stream error.
      controller.close()
      end()
    },
    cancel: async () => {
      end()
      await chunks.return(undefined)
    },
  })
}
