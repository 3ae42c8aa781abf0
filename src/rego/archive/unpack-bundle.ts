import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

import { extract } from 'tar-stream'
import type { Header } from 'tar-stream'

import { AppError, toError } from '../../errors/app-error.js'

/** The files of a bundle by path, without a leading slash. */
export type UnpackedFiles = ReadonlyMap<string, Buffer>

/** Largest unpacked size, so that a small file cannot exhaust memory. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024
const MAX_MEMBERS = 65_536
const FILES: readonly unknown[] = ['file', 'contiguous-file']

/**
 * Unpacks a bundle (`.tar.gz`). Raises `invalid`, naming the bundle, if it is damaged or too large,
 * or if readers could interpret it differently: a path that leads out, a duplicate path, a link, a
 * device.
 */
export async function unpackBundle(name: string, bytes: Uint8Array): Promise<UnpackedFiles> {
  const files = new Map<string, Buffer>()
  let members = 0
  try {
    const archive = extract()
    const feeding = pipeline(Readable.from([bytes]), createGunzip(), limitBytes, archive)
    // An error of the pipeline also ends the archive, so the loop below throws it.
    feeding.catch(() => undefined)
    for await (const entry of archive) {
      const chunks: Buffer[] = []
      for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
      members += 1
      if (members > MAX_MEMBERS) throw new AppError('invalid', `it holds over ${MAX_MEMBERS} files`)
      addMember(files, entry.header, Buffer.concat(chunks))
    }
    await feeding
  } catch (raw) {
    throw new AppError('invalid', `read bundle ${name}: ${toError(raw).message}`, { cause: raw })
  }
  return files
}

async function* limitBytes(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let total = 0
  for await (const chunk of source) {
    total += chunk.length
    if (total > MAX_UNPACKED_BYTES)
      throw new AppError('invalid', `it unpacks to over ${MAX_UNPACKED_BYTES} bytes`)
    yield chunk
  }
}

function addMember(files: Map<string, Buffer>, { name, type }: Header, content: Buffer): void {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw new AppError('invalid', `the path ${name} leads out of the bundle`)
  if (type === 'directory') return
  if (!FILES.includes(type)) throw new AppError('invalid', `${name} is a ${type}, not a file`)
  const path = segments.join('/')
  if (path === '') throw new AppError('invalid', 'a file has no name')
  if (files.has(path)) throw new AppError('invalid', `${path} occurs twice`)
  files.set(path, content)
}
