import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'

import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
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
const SPACE = 0x20
const JSON_STARTS = '{["'
const MARK = Buffer.from('\ufeff')

/**
 * Returns the JSON of a file, or of standard input for `-`. YAML is converted: `.yaml` and `.yml`
 * files, and mappings and lists in standard input and in files with another extension than `.json`.
 * Raises `invalid` with name and location if it cannot be read, is empty or malformed, or if it is
 * YAML with several documents.
 */
export async function readDocument(file: string, terminal: Terminal): Promise<Uint8Array> {
  const { documents } = await readDocuments(file, terminal)
  if (documents.length > 1)
    throw new AppError(
      'invalid',
      `${file}: it holds ${documents.length} documents (---): write each into a file of its own`,
    )
  if (documents[0] === undefined) throw emptyFile(file)
  return documents[0].json
}

/** The error for a file without a document, which an unset variable or a failed command may leave. */
export function emptyFile(file: string): AppError {
  return new AppError('invalid', `${file === STDIN ? 'standard input' : file} is empty; an empty list is []`)
}

/** Returns the documents of a file. Otherwise like `readDocument`. */
export async function readDocuments(file: string, terminal: Terminal): Promise<SourceFile> {
  const name = file === STDIN ? 'standard input' : file
  const bytes = withoutMark(await readBytes(file, terminal))
  requireText(bytes, name)
  refuseTemplate(file, bytes)
  const start = bytes.findIndex((byte) => byte > SPACE)
  if (start === -1) throw emptyFile(file)
  try {
    if (/\.ya?ml$/i.test(file)) return await readYaml(bytes)
    // Malformed JSON stays an error of JSON.
    const mayBeYaml = !/\.json$/i.test(file) && !JSON_STARTS.includes(String.fromCharCode(bytes[start] ?? 0))
    return await readJson(bytes).catch(async (raw: unknown) => {
      const read = mayBeYaml ? await readCollections(bytes) : undefined
      if (read === undefined) throw raw
      return read
    })
  } catch (raw) {
    const text = `${name}${locationOf(raw, bytes)}: ${toError(raw).message}`
    throw new AppError('invalid', `${text}${templateAdvice(bytes)}`, { cause: raw })
  }
}

/** The name of definitions in a repository that a tool renders, and its actions. */
const DINGHYFILE = /^(?:.*\.)?dinghyfile$/i
const TEMPLATE = '{{'

/** True for a file that a tool renders to definitions of pipelines. */
export function isDinghyfile(file: string): boolean {
  return DINGHYFILE.test(basename(file))
}

function templateAdvice(bytes: Buffer): string {
  return bytes.includes(TEMPLATE)
    ? `. Templates (${TEMPLATE} … }}) are not rendered: pass the rendered file`
    : ''
}

/** Raises `invalid` for a dinghyfile with actions, whose strings are not those of the pipelines. */
function refuseTemplate(file: string, bytes: Buffer): void {
  const at = isDinghyfile(file) ? bytes.indexOf(TEMPLATE) : -1
  if (at !== -1)
    throw new AppError(
      'invalid',
      `${file}${positionOf(at, bytes)}: this file is a template${templateAdvice(bytes)}`,
    )
}

async function readJson(bytes: Buffer): Promise<SourceFile> {
  const json = toUtf8(bytes)
  const source = new JsonNode(json, locateValue(json))
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  return await Promise.resolve({
    documents: [{ json, source }],
    positions: new Positions((from, to) => text.toString('utf8', from, to)),
  })
}

async function readYaml(bytes: Buffer): Promise<SourceFile> {
  const { readYamlFile } = await import('./read-yaml-file.js')
  return await readYamlFile(bytes.toString('utf8'))
}

/** Returns YAML documents; undefined if one is neither a mapping nor a list, as any word is. */
async function readCollections(bytes: Buffer): Promise<SourceFile | undefined> {
  const read = await readYaml(bytes)
  const areCollections = read.documents.every(({ json }) => [OPEN_OBJECT, OPEN_ARRAY].includes(json[0] ?? 0))
  return read.documents.length > 0 && areCollections ? read : undefined
}

/** Returns `:row:col` of a syntax error, from 1; empty if the JSON ended too early. */
function locationOf(raw: unknown, bytes: Buffer): string {
  if (!(raw instanceof JsonSyntaxError) || raw.at >= bytes.length) return ''
  return positionOf(raw.at, bytes)
}

function positionOf(at: number, bytes: Buffer): string {
  const before = bytes.toString('utf8', 0, at).split('\n')
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
