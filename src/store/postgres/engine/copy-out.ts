import type { Submittable } from 'pg'

/**
 * Header of a binary COPY (postgresql.org/docs/15/sql-copy.html, "Binary Format"): the signature,
 * flags, and the length of the extension.
 */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const HEADER_BYTES = SIGNATURE.length + 8
const COUNT_BYTES = 2
const LENGTH_BYTES = 4

/** The client's connection, as far as it is used here. */
interface CopyConnection {
  query(text: string): void
}

/**
 * A statement `copy … to stdout (format binary)` whose rows are passed to `take` as they arrive:
 * several times as fast as query results, which the client library reads as text. The values of a
 * row are valid until `take` returns.
 */
export class CopyOut implements Submittable {
  readonly finished: Promise<void>
  /** Set by the client to end its query timeout. */
  callback: ((error: Error | undefined) => void) | undefined
  readonly #text: string
  readonly #take: (values: readonly Buffer[]) => void
  #resolve: () => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  #error: Error | undefined
  #isFirst = true

  constructor(text: string, take: (values: readonly Buffer[]) => void) {
    this.#text = text
    this.#take = take
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Called by the client when the connection is free. */
  submit(connection: CopyConnection): void {
    connection.query(this.#text)
  }

  /**
   * Receives one row (postgresql.org/docs/15/protocol-flow.html, "COPY Operations"). The header
   * precedes the first row; a row of -1 values is the end.
   */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#error !== undefined) return
    try {
      const values = readRow(chunk, this.#isFirst ? headerBytes(chunk) : 0)
      this.#isFirst = false
      if (values !== undefined) this.#take(values)
    } catch (raw) {
      this.#error = raw instanceof Error ? raw : new Error(String(raw))
    }
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#resolve()
    else this.#reject(this.#error)
    this.callback?.(this.#error)
  }

  /**
   * Handles an error of the server or of the connection. After an error of the server,
   * `handleReadyForQuery` follows; the promise stays rejected.
   */
  handleError(error: Error): void {
    this.#reject(error)
    this.callback?.(error)
  }

  /** Ignored, like the next message. The client calls both. */
  handleRowDescription(): void {
    return
  }

  handleCommandComplete(): void {
    return
  }
}

function headerBytes(chunk: Buffer): number {
  if (!chunk.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('a COPY without its signature')
  return HEADER_BYTES + chunk.readInt32BE(HEADER_BYTES - LENGTH_BYTES)
}

/** Reads a row; undefined at the end. No value of ours is null. */
function readRow(chunk: Buffer, from: number): Buffer[] | undefined {
  const count = chunk.readInt16BE(from)
  if (count < 0) return undefined
  const values: Buffer[] = []
  let at = from + COUNT_BYTES
  for (let index = 0; index < count; index += 1) {
    const end = at + LENGTH_BYTES + Math.max(0, chunk.readInt32BE(at))
    values.push(chunk.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  return values
}
