import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

import { AppError } from '../../errors/app-error.js'

/** Where the header of a member has its name and its length, in octal digits (POSIX ustar), and what headers and contents fill up. */
const [NAME_BYTES, LENGTH_OFFSET, LENGTH_BYTES, BLOCK_BYTES] = [100, 124, 12, 512]
/** A mode of 644, and a fixed time and owner: bytes that differ from run to run cannot be compared or signed again. */
const [BEFORE_LENGTH, TIME] = ['000644 \x00000000 \x00000000 \x00', '00000000000 ']
/** A plain file, no link, the format and its version, no names of owners, no device. */
const BEHIND_SUM = `0${'\0'.repeat(100)}ustar\x0000${'\0'.repeat(64)}000000 \x00000000 \x00`
/** The sum is made as if its own place were blank. */
const FIXED_SUM = sumOf(BEFORE_LENGTH + TIME + ' '.repeat(8) + BEHIND_SUM)
const IN_ASCII = /^[ -~]+$/
/** The byte of a gzip header that names the operating system (RFC 1952 section 2.3.1), and its value for none. */
const GZIP_OS_OFFSET = 9
const GZIP_OS_UNKNOWN = 255

/** Files as an archive (`.tar.gz`), compressed at a level of 0 (not at all) to 9. The same files always give the same bytes. */
export async function packFiles(
  files: Iterable<readonly [name: string, content: string | Uint8Array]>,
  level: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for (const [name, content] of files) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const rest = bytes.length % BLOCK_BYTES
    pieces.push(headerOf(name, bytes.length), bytes, Buffer.alloc(rest === 0 ? 0 : BLOCK_BYTES - rest))
  }
  pieces.push(Buffer.alloc(2 * BLOCK_BYTES))
  const bytes = await promisify(gzip)(Buffer.concat(pieces), { level })
  bytes[GZIP_OS_OFFSET] = GZIP_OS_UNKNOWN
  return bytes
}

/** Raises `internal` for a name that has no place in a header. */
function headerOf(name: string, length: number): Buffer {
  if (name.length > NAME_BYTES || !IN_ASCII.test(name))
    throw new AppError('internal', `an archive cannot hold a file ${name}`)
  const size = `${length.toString(8).padStart(LENGTH_BYTES - 1, '0')} `
  const sum = `${(FIXED_SUM + sumOf(name) + sumOf(size)).toString(8).padStart(6, '0')} \0`
  const text = name.padEnd(NAME_BYTES, '\0') + BEFORE_LENGTH + size + TIME + sum + BEHIND_SUM
  return Buffer.from(text.padEnd(BLOCK_BYTES, '\0'), 'latin1')
}

function sumOf(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at)
  return sum
}

/** One file of an archive (`.tar.gz`) that this service has had made; undefined where it is not there. Raises what zlib raises. */
export async function unpackOne(bytes: Uint8Array, name: string): Promise<Buffer | undefined> {
  const archive = await promisify(gunzip)(bytes)
  const textAt = (start: number, length: number): string =>
    archive.toString('latin1', start, start + length).replace(/\0.*/s, '')
  let at = 0
  while (at + BLOCK_BYTES <= archive.length) {
    const length = Number.parseInt(textAt(at + LENGTH_OFFSET, LENGTH_BYTES), 8) || 0
    const start = at + BLOCK_BYTES
    if (textAt(at, NAME_BYTES).replace(/^\/+/, '') === name) return archive.subarray(start, start + length)
    at = start + Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES
  }
  return undefined
}
