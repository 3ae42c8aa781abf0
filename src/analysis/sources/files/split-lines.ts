const NEWLINE = 0x0a
const RETURN = 0x0d
/** The rest of a longer line is skipped, so that a file without line breaks takes no memory. */
const MAX_LINE_BYTES = 256 * 1024

/**
 * The lines of a stream of bytes, without their ends, as many together as a chunk completes. Of very long lines only the start
 * is given.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let parts: Buffer[] = []
  let length = 0
  const keep = (bytes: Buffer): void => {
    const room = MAX_LINE_BYTES - length
    if (room > 0) parts.push(bytes.subarray(0, room))
    length += Math.min(bytes.length, Math.max(0, room))
  }
  const take = (): string => {
    const line = Buffer.concat(parts)
    parts = []
    length = 0
    return line.at(-1) === RETURN ? line.toString('utf8', 0, line.length - 1) : line.toString()
  }
  for await (const chunk of chunks) {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      lines.push(take())
      start = end + 1
    }
    keep(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (length > 0) yield [take()]
}
