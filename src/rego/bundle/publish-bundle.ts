import { escapeGlob } from '../../lib/text/escape-pattern.js'
import { createHash } from 'node:crypto'

import { MANIFEST_FILE } from '../archive/manifest.js'
import { packFiles } from '../archive/pack-files.js'
import { areApart, isOwned, ownedRoots } from '../archive/roots.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import { evaluatedDocuments } from '../modules/rego-module.js'
import type { Publishable, PublishedModule } from '../snapshot/snapshot.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { dataOf, printData } from '../wasm/data/data-image.js'
import type { DataImage } from '../wasm/data/data-image.js'
import { withRevision } from './pack-bundle.js'
import { signFiles } from './signing/sign-bundle.js'
import type { BundleSigner } from './signing/sign-bundle.js'
import { SIGNATURES_FILE } from './signing/verify-bundle.js'

const GZIP_LEVEL = 6

/** The contents of a published bundle, as plain data for another thread. */
export interface PublishRequest {
  readonly publishable: Exclude<Publishable, { readonly type: 'none' }>
  readonly revision: string
  readonly image: DataImage
  readonly signer: BundleSigner | undefined
}

export interface PackedPublication {
  readonly bytes: Uint8Array
  /** SHA-256 in hex of everything except the signature, which can differ between replicas. */
  readonly digest: string
}

/** Returns what the parts of a snapshot can be published as. `nameOf` gives public names of files. */
export function publishableOf(parts: readonly PolicyPart[], nameOf: (file: string) => string): Publishable {
  const compiled = parts.filter(({ original }) => original !== undefined)
  const [first] = compiled
  if (first?.original !== undefined && parts.length === 1) return { type: 'bundle', bytes: first.original }
  if (first !== undefined) return { type: 'none', compiled: compiled.map(({ name }) => name) }
  const modules = parts.flatMap((part) => part.modules)
  return {
    type: 'sources',
    modules: withPaths(
      modules.map(({ file, text, source = text, version }) => ({
        file: nameOf(file),
        text: source,
        version,
      })),
    ),
    roots: disjoint(parts.flatMap(rootsOf)),
  }
}

function rootsOf({ owners, roots, modules, packages, data }: PolicyPart): readonly string[] {
  if (owners !== undefined) return owners.flatMap((owner) => owner.roots)
  return roots ?? ownedRoots([...packages, ...evaluatedDocuments(modules)], data)
}

function disjoint(roots: readonly string[]): string[] {
  const distinct = [...new Set(roots)]
  if (areApart(distinct)) return distinct.sort()
  return distinct.filter((root) => !isOwned(new Set(distinct.filter((other) => other !== root)), root)).sort()
}

/** Returns modules with distinct paths in an archive that end in `.rego`. */
function withPaths(modules: readonly PublishedModule[]): PublishedModule[] {
  const taken = new Set<string>()
  return modules.map((module) => {
    const segments = module.file.split('/').filter((segment) => !['', '.', '..'].includes(segment))
    const path = segments.join('/').replace(/\.rego$/, '') || 'policy'
    let file = `${path}.rego`
    for (let number = 2; taken.has(file); number++) file = `${path}-${number}.rego`
    taken.add(file)
    return { ...module, file }
  })
}

/**
 * Packs what a snapshot publishes as an OPA bundle: the Rego and data of its sources, or its only
 * bundle. With a signer the bundle has that signature; else a bundle keeps its own. Raises `invalid`
 * for an unusable key.
 */
export async function packPublication(request: PublishRequest): Promise<PackedPublication> {
  const { publishable, revision, image, signer } = request
  if (publishable.type === 'bundle' && signer === undefined)
    return { bytes: publishable.bytes, digest: digestOf(publishable.bytes) }
  const files =
    publishable.type === 'bundle'
      ? await unsignedFiles(publishable.bytes, revision)
      : sourceFiles(publishable, revision, image)
  const digest = digestOfFiles(files)
  if (signer !== undefined) files.set(SIGNATURES_FILE, signFiles(files, signer))
  return { bytes: await pack(files), digest }
}

/** The files of a bundle without its signature. Its manifest gets a revision if it has none. */
async function unsignedFiles(bytes: Uint8Array, revision: string): Promise<Map<string, Buffer>> {
  const files = new Map(await unpackBundle('to publish', bytes))
  files.delete(SIGNATURES_FILE)
  return withRevision(files, revision)
}

function sourceFiles(
  { modules, roots }: Extract<Publishable, { type: 'sources' }>,
  revision: string,
  image: DataImage,
): Map<string, Buffer> {
  const older = modules.filter(({ version }) => version === 0)
  // Glob patterns, which OPA matches with the paths in the archive.
  const versions = older.map(({ file }) => [escapeGlob(file), 0] as const)
  const manifest = {
    ...{ revision, roots, rego_version: 1 },
    ...(older.length > 0 && { file_rego_versions: Object.fromEntries(versions) }),
  }
  return new Map([
    [MANIFEST_FILE, Buffer.from(JSON.stringify(manifest))],
    ['data.json', Buffer.from(printData(dataOf(image)))],
    ...modules.map(({ file, text }) => [file, Buffer.from(text)] as const),
  ])
}

function pack(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  // OPA reads the manifest and the signature before the files that they are about.
  const first = [MANIFEST_FILE, SIGNATURES_FILE]
  const sorted = [...files].sort(([a], [b]) => first.indexOf(b) - first.indexOf(a) || (a < b ? -1 : 1))
  return packFiles(sorted, GZIP_LEVEL, { allowsAnyName: true })
}

/** Digest of names and contents, which delimits them by their lengths. */
function digestOfFiles(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256')
  for (const [name, content] of files)
    hash.update(`${Buffer.byteLength(name)} ${content.length} ${name}`).update(content)
  return hash.digest('hex')
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
