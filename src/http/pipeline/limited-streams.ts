import { AppError } from '../../errors/app-error.js'
import { byteStream } from './byte-stream.js'
import type { StreamEnds } from './byte-stream.js'

/** Streams of one kind that may run at a time, since each holds some memory for as long as its reader takes. */
export class LimitedStreams {
  readonly #most: number
  readonly #what: string
  #running = 0

  /** `what` names them in the plural, for who is refused. */
  constructor(most: number, what: string) {
    this.#most = most
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
    if (this.#running >= this.#most) {
      throw new AppError('unavailable', `${this.#most} ${this.#what} are running already; try again`)
    }
    this.#running += 1
    const ended = (): void => {
      this.#running -= 1
    }
    try {
      return byteStream(goingOn(await chunks.next(), chunks), { failed, ended })
    } catch (raw) {
      ended()
      throw raw
    }
  }
}

async function* goingOn(
  first: IteratorResult<Uint8Array, void>,
  others: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done === true) return
  yield first.value
  yield* others
}
