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

  /** The body made of these chunks. Raises `unavailable` where as many as may run are running. */
  start(chunks: AsyncGenerator<Uint8Array, void>, failed: StreamEnds['failed']): ReadableStream<Uint8Array> {
    if (this.#running >= this.#most) {
      throw new AppError('unavailable', `${this.#most} ${this.#what} are running already; try again`)
    }
    this.#running += 1
    const ended = (): void => {
      this.#running -= 1
    }
    return byteStream(chunks, { failed, ended })
  }
}
