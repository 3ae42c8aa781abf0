import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

import { pack } from 'tar-stream'

import { AppError } from '../../errors/app-error.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'

const FILE_MODE = 0o644
/** Offsets of name and size (octal) in a member's header, and the block size (POSIX ustar). */
const [NAME_BYTES, LENGTH_OFFSET, LENGTH_BYTES, BLOCK_BYTES] = [100, 124, 12, 512]
const IN_ASCII = /^[ -~]+$/
/** Offset and value of the operating system in a gzip header (RFC 1952, section 2.3.1): unknown. */
const GZIP_OS_OFFSET = 9
const GZIP_OS_UNKNOWN = 255

/**
 * Packs files as an archive (`.tar.gz`), with a compression level of 0 (none) to 9. The result is
 * reproducible. Raises `internal` for a name that does not fit into a header, which `unpackOne`
 * would not find.
 */
export async function packFiles(
  files: Iterable<readonly [name: string, content: string | Uint8Array]>,
  level: number,
  { allowsAnyName = false }: { readonly allowsAnyName?: boolean } = {},
): Promise<Buffer> {
  const [archive, turns] = [pack(), new ShortTurns()]
  for (const [name, content] of files) {
    if (!allowsAnyName && (name.length > NAME_BYTES || !IN_ASCII.test(name)))
      throw new AppError('internal', `an archive cannot hold a file ${name}`)
    // Fixed time and owner, for reproducible archives.
    archive.entry({ name, mode: FILE_MODE, mtime: new Date(0), uid: 0, gid: 0 }, Buffer.from(content))
    await turns.pause()
  }
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    await turns.pause()
  }
  const bytes = await promisify(gzip)(Buffer.concat(chunks), { level })
  bytes[GZIP_OS_OFFSET] = GZIP_OS_UNKNOWN
  return bytes
}

/**
 * Returns a file of an archive (`.tar.gz`) that this service made; undefined if it is missing.
 * Raises as zlib.
 */
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
