import { BuiltinError } from '../shared/builtin.js'
import { decodeGoBase64 } from './go-base64.js'

export interface PemBlock {
  /** The label of the block, such as `CERTIFICATE`. */
  readonly type: string
  readonly der: Buffer
  /** The text after the last line of the block. */
  readonly rest: string
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const DASHES = '-----'

/**
 * Returns the first well-formed PEM block of a text, or undefined. Malformed blocks are skipped
 * like in Go's pem.Decode, in linear time: only the last BEGIN before an END can belong to it.
 */
export function readPemBlock(text: string): PemBlock | undefined {
  let from = 0
  for (;;) {
    const end = lineStart(text, END, from)
    if (end === undefined) return undefined
    const last = lineEnd(text, end)
    const block = readBlock(text.slice(from, end), text.slice(end, last).trimEnd())
    if (block !== undefined) return { ...block, rest: text.slice(last + 1) }
    from = last
  }
}

function readBlock(beforeEnd: string, endLine: string): Omit<PemBlock, 'rest'> | undefined {
  const newline = beforeEnd.lastIndexOf(`\n${BEGIN}`)
  if (newline < 0 && !beforeEnd.startsWith(BEGIN)) return undefined
  const start = newline + 1
  const first = lineEnd(beforeEnd, start)
  const line = beforeEnd.slice(start + BEGIN.length, first).trimEnd()
  if (!line.endsWith(DASHES)) return undefined
  const type = line.slice(0, -DASHES.length)
  if (endLine !== `${END}${type}${DASHES}`) return undefined
  const der = decodeBody(withoutHeaders(beforeEnd.slice(first + 1)))
  return der && { type, der }
}

/** Lines such as `Proc-Type: …` may precede the base64. */
function withoutHeaders(body: string): string {
  let at = 0
  while (at < body.length) {
    const end = lineEnd(body, at)
    const line = body.slice(at, end)
    if (line.trim() !== '' && !line.includes(':')) break
    at = end + 1
  }
  return body.slice(at)
}

function decodeBody(body: string): Buffer | undefined {
  try {
    return decodeGoBase64(body.replaceAll(/[ \t]/g, ''), 'standard')
  } catch (raw) {
    if (raw instanceof BuiltinError) return undefined
    throw raw
  }
}

/** Returns the start of the first line that begins with `prefix`, at or after `from`. */
function lineStart(text: string, prefix: string, from: number): number | undefined {
  if (from === 0 && text.startsWith(prefix)) return 0
  const found = text.indexOf(`\n${prefix}`, from)
  return found < 0 ? undefined : found + 1
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found < 0 ? text.length : found
}
