import { TextDecoder } from 'node:util'

/** What files begin with that are in another encoding than most, or say which (Unicode 23.8). */
const MARKS = [
  { bytes: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { bytes: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
  { bytes: Buffer.from([0xef, 0xbb, 0xbf]), encoding: undefined },
] as const

/** The bytes of a file in UTF-8, without its mark; files in UTF-16, as Windows writes them, begin with one. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined
  let isFirst = true
  for await (const chunk of chunks) {
    const mark = isFirst
      ? MARKS.find(({ bytes }) => chunk.subarray(0, bytes.length).equals(bytes))
      : undefined
    isFirst = false
    if (mark?.encoding !== undefined) decoder = new TextDecoder(mark.encoding)
    const rest = chunk.subarray(mark?.bytes.length ?? 0)
    yield decoder === undefined ? rest : Buffer.from(decoder.decode(rest, { stream: true }))
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode())
}
