import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

import { extract } from 'tar-stream'
import { z } from 'zod'

import { AppError, toError } from '../../errors.js'

/** What `tidegate build` notes of the module, so that loading the bundle is as good as compiling the sources. */
const BundleIndex = z.object({
  /** Package paths below `data`. */
  packages: z.array(z.array(z.string())),
  /** The keys of the paths that are rules; all others are documents. */
  rules: z.array(z.string()),
  /** The key of the path that an entrypoint answers, where its name is another. */
  paths: z.record(z.string(), z.string()).default({}),
  /** The source files by the names that the module uses in its errors. */
  files: z.record(z.string(), z.string()).default({}),
})
export type BundleIndex = z.infer<typeof BundleIndex>

/** The part of a bundle's `.manifest` that concerns us; the rest is kept by whoever made it. */
const Manifest = z.object({
  revision: z.string().default(''),
  roots: z.array(z.string()).default(['']),
  metadata: z.object({ tidegate: BundleIndex.optional() }).optional(),
})

/** An OPA bundle as read, with file names relative to its root. */
export interface BundleFiles {
  readonly wasm: Uint8Array | undefined
  readonly revision: string
  readonly roots: readonly string[]
  /** `data.json` and `data.yaml` files by name. */
  readonly data: ReadonlyMap<string, string>
  readonly rego: ReadonlyMap<string, string>
  readonly index: BundleIndex | undefined
}

/** What a bundle may unpack to at most, so that a small file cannot fill the memory. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024

/**
 * Reads an OPA bundle (`.tar.gz`) from its bytes. Raises `invalid`, naming the file, when it is damaged, too large, or
 * has a manifest that is none.
 */
export async function readBundle(name: string, bytes: Uint8Array): Promise<BundleFiles> {
  const files = await unpack(name, bytes)
  const manifest = readManifest(name, files.get('.manifest'))
  const texts = (suffixes: readonly string[]): Map<string, string> =>
    new Map(
      [...files]
        .filter(([file]) => suffixes.some((suffix) => `/${file}`.endsWith(suffix)))
        .map(([file, content]) => [file, content.toString('utf8')]),
    )
  return {
    wasm: files.get('policy.wasm'),
    revision: manifest.revision,
    roots: manifest.roots,
    data: texts(['/data.json', '/data.yaml', '/data.yml']),
    rego: texts(['.rego']),
    index: manifest.metadata?.tidegate,
  }
}

async function unpack(name: string, bytes: Uint8Array): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  let total = 0
  try {
    const entries = Readable.from([bytes]).pipe(createGunzip())
    const archive = extract()
    entries.on('error', (error) => archive.destroy(error))
    for await (const entry of entries.pipe(archive)) {
      const chunks: Buffer[] = []
      for await (const chunk of entry as AsyncIterable<Buffer>) {
        total += chunk.length
        if (total > MAX_UNPACKED_BYTES)
          throw new AppError('invalid', `unpacks to over ${MAX_UNPACKED_BYTES} bytes`)
        chunks.push(chunk)
      }
      if (entry.header.type === 'file')
        files.set(entry.header.name.replace(/^\.?\/+/, ''), Buffer.concat(chunks))
    }
  } catch (raw) {
    throw new AppError('invalid', `read bundle ${name}: ${toError(raw).message}`, { cause: raw })
  }
  return files
}

function readManifest(name: string, content: Buffer | undefined): z.infer<typeof Manifest> {
  if (content === undefined) return Manifest.parse({})
  try {
    return Manifest.parse(JSON.parse(content.toString('utf8')))
  } catch (raw) {
    throw new AppError('invalid', `read bundle ${name}: .manifest: ${toError(raw).message}`, { cause: raw })
  }
}
