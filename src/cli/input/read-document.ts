import { readFile } from 'node:fs/promises'

import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'
import { toUtf8 } from '../../lib/json/scan/decode-string.js'
import { locateValue } from '../../lib/json/scan/locate-value.js'
import { JsonSyntaxError } from '../../lib/json/scan/syntax-error.js'
import type { Terminal } from '../session/terminal.js'
import { JsonNode, Positions } from './source-node.js'
import type { SourceFile } from './source-node.js'

/**
 * Magic bytes of compressed and UTF-16 files (RFC 1952, RFC 8878, byte order marks), with advice.
 */
const BEGINNINGS: readonly { readonly bytes: readonly number[]; readonly says: string }[] = [
  { bytes: [0x1f, 0x8b], says: 'is compressed; unpack it with gunzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], says: 'is compressed; unpack it with unzstd' },
  { bytes: [0xff, 0xfe], says: 'is UTF-16; convert it with iconv -f UTF-16 -t UTF-8' },
  { bytes: [0xfe, 0xff], says: 'is UTF-16; convert it with iconv -f UTF-16 -t UTF-8' },
]

/** Raises `invalid` with advice if the file is compressed or UTF-16. */
export function requireText(start: Uint8Array, name: string): void {
  const known = BEGINNINGS.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))
  if (known !== undefined) throw new AppError('invalid', `${name} ${known.says}`)
}

/** Name of standard input. */
export const STDIN = '-'
const MARK = Buffer.from('\ufeff')

/**
 * Returns the JSON of a file, or of standard input for `-`. `.yaml` and `.yml` files are converted.
 * Raises `invalid` with name and location if it cannot be read or is malformed, or if it is YAML
 * with several documents.
 */
export async function readDocument(file: string, terminal: Terminal): Promise<Uint8Array> {
  const { documents } = await readDocuments(file, terminal)
  if (documents.length > 1)
    throw new AppError(
      'invalid',
      `${file}: it holds ${documents.length} documents (---): write each into a file of its own`,
    )
  return documents[0]?.json ?? Buffer.from('null')
}

/** Returns the documents of a file. Otherwise like `readDocument`. */
export async function readDocuments(file: string, terminal: Terminal): Promise<SourceFile> {
  const name = file === STDIN ? 'standard input' : file
  const bytes = withoutMark(await readBytes(file, terminal))
  requireText(bytes, name)
  try {
    if (/\.ya?ml$/i.test(file)) {
      const { readYamlFile } = await import('./read-yaml-file.js')
      return await readYamlFile(bytes.toString('utf8'))
    }
    const json = toUtf8(bytes)
    const source = new JsonNode(json, locateValue(json))
    const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    return {
      documents: [{ json, source }],
      positions: new Positions((from, to) => text.toString('utf8', from, to)),
    }
  } catch (raw) {
    throw new AppError('invalid', `${name}${locationOf(raw, bytes)}: ${toError(raw).message}`, { cause: raw })
  }
}

/** Returns `:row:col` of a syntax error, from 1; empty if the JSON ended too early. */
function locationOf(raw: unknown, bytes: Buffer): string {
  if (!(raw instanceof JsonSyntaxError) || raw.at >= bytes.length) return ''
  const before = bytes.toString('utf8', 0, raw.at).split('\n')
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

async function readBytes(file: string, terminal: Terminal): Promise<Buffer> {
  if (file === STDIN) return await terminal.readStdin()
  try {
    return await readFile(file)
  } catch (raw) {
    throw unreadableFile(file, raw)
  }
}

/** Removes the UTF-8 byte order mark of some editors, which JSON does not allow (RFC 8259, 8.1). */
function withoutMark(bytes: Buffer): Buffer {
  return MARK.equals(bytes.subarray(0, MARK.length)) ? bytes.subarray(MARK.length) : bytes
}

/** An error of reading a file, with the name of the file as given. */
export function unreadableFile(file: string, raw: unknown): AppError {
  const reason = hasErrorCode(raw, 'ENOENT')
    ? `file ${file} not found`
    : `read ${file}: ${toError(raw).message.replace(/, \w+(?: '.*')?$/s, '')}`
  return new AppError('invalid', reason, { cause: raw })
}
