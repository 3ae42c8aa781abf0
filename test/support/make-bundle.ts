import { gzipSync } from 'node:zlib'

import { pack } from 'tar-stream'
import type { Header } from 'tar-stream'

/** A member of an archive; without a type it is a file. */
export interface Member {
  readonly name: string
  readonly content?: string | Uint8Array
  readonly type?: Header['type']
  readonly linkname?: string
}

/** A bundle (`.tar.gz`) of the members in their order. */
export async function packMembers(members: readonly Member[]): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of members) archive.entry({ ...header }, Buffer.from(content))
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

/** A bundle of files by their path. */
export function packFiles(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  return packMembers(Object.entries(files).map(([name, content]) => ({ name, content })))
}
