import type { Submittable } from 'pg'

/** What a binary COPY begins with (postgresql.org/docs/15/sql-copy.html, "Binary Format"): these signs, flags, the length of what may follow. */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const HEADER_BYTES = SIGNATURE.length + 8
const COUNT_BYTES = 2
const LENGTH_BYTES = 4

/** The part of the client's connection that a statement is sent over. */
interface CopyConnection {
  query(text: string): void
}

/**
 * A statement `copy … to stdout (format binary)`, whose rows are handed over as they come: several times as fast as results, which the
 * client library reads as text. The values of a row are only there until `take` returns.
 */
export class CopyOut implements Submittable {
  readonly finished: Promise<void>
  /** Set by the client, which counts the time until it is called. */
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

  /** Always one row a message (postgresql.org/docs/15/protocol-flow.html, "COPY Operations"); the header comes with the first, the end is a row of -1 values. */
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

  /** The server's error, after which it is ready again; or the connection's, after which nothing comes. */
  handleError(error: Error): void {
    this.#reject(error)
    this.callback?.(error)
  }

  /** Nothing else is of interest; the client calls these all the same. */
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

/** Undefined at the end. No value of ours is null. */
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
