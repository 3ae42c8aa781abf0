import { AppError, toError } from '../../errors/app-error.js'
import type { CompiledPolicies } from '../compile/compile-policies.js'
import { pathKey } from '../values/path-key.js'
import { MANIFEST_FILE, MODULE_FILE, readOwnManifest } from '../archive/manifest.js'
import type { BundleIndex } from '../archive/manifest.js'
import { packFiles } from '../archive/pack-files.js'
import { isOwned, ownedRoots } from '../archive/roots.js'
import { signFiles } from './signing/sign-bundle.js'
import type { BundleSigner } from './signing/sign-bundle.js'
import { SIGNATURES_FILE } from './signing/verify-bundle.js'
import { printData } from '../wasm/data/data-image.js'

/** Go's default, too. Higher levels take three times as long and save a sixtieth. */
const GZIP_LEVEL = 6

export interface PackOptions {
  readonly revision: string
  /** The paths of `data` that the bundle owns; its packages and data by default. */
  readonly roots?: readonly string[] | undefined
  /** Metadata for the manifest. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Adds a signature of all files. */
  readonly signer?: BundleSigner | undefined
}

/**
 * Packs compiled policies as an OPA bundle (`.tar.gz`). The result is reproducible. Raises
 * `invalid` without Rego.
 */
export async function packBundle(compiled: CompiledPolicies, options: PackOptions): Promise<Buffer> {
  if (compiled.wasm === undefined) {
    const names = compiled.packages.map((path) => path.join('.')).join(', ')
    const what =
      names === '' ? 'there is no Rego' : `no package has a rule (${names}), so that there is nothing`
    throw new AppError('invalid', `${what} to build a bundle of`)
  }
  const files = new Map([
    [MANIFEST_FILE, Buffer.from(JSON.stringify(manifest(compiled, options)))],
    ['data.json', Buffer.from(printData(compiled.data))],
    [MODULE_FILE, Buffer.from(compiled.wasm)],
  ])
  const { signer } = options
  // OPA reads archives in order.
  const signed = signer === undefined ? [] : [[SIGNATURES_FILE, signFiles(files, signer)] as const]
  const rooted = [...signed, ...files].map(([name, content]) => [`/${name}`, content] as const)
  return await packFiles(rooted, GZIP_LEVEL)
}

function manifest(compiled: CompiledPolicies, options: PackOptions): unknown {
  const { entrypoints, packages, paths, sourceNames, data } = compiled
  const { revision, roots = ownedRoots(packages, data), metadata } = options
  const rules = [...entrypoints.keys()].filter((key) => entrypoints.get(key) === 'rule')
  const renamed = [...paths].filter(([name, key]) => name !== key)
  const index: BundleIndex = {
    packages: uniquePaths(packages),
    rules: rules.sort(),
    paths: Object.fromEntries(renamed.sort()),
    files: Object.fromEntries(sourceNames),
  }
  // OPA evaluates the module for the bundle's roots, and refuses a manifest with more entrypoints.
  const owned = new Set(roots)
  const names = [...paths.keys()].filter((name) => name !== '' && isOwned(owned, name)).sort()
  return {
    revision,
    roots,
    wasm: names.map((entrypoint) => ({ entrypoint, module: `/${MODULE_FILE}` })),
    metadata: { ...metadata, tidegate: index },
  }
}

function uniquePaths(packages: readonly (readonly string[])[]): string[][] {
  const byText = new Map(packages.map((path) => [pathKey(path), [...path]]))
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path)
}

/**
 * Packs Rego, data and a manifest as a bundle without a module. The revision is that of the
 * manifest, else the given one; signed files stay as they are. Raises `invalid` without any file and
 * for a malformed manifest.
 */
export async function packSources(files: ReadonlyMap<string, Buffer>, revision: string): Promise<Buffer> {
  if (files.size === 0) throw new AppError('invalid', 'there are no Rego and no data files')
  const sorted = [...withRevision(files, revision)].sort(([a], [b]) => (a < b ? -1 : 1))
  return await packFiles(sorted, GZIP_LEVEL, { allowsAnyName: true })
}

/**
 * Returns the files of a bundle with a revision in their manifest. One that is there stays, and so
 * do signed files. Raises `invalid` for a malformed manifest.
 */
export function withRevision(files: ReadonlyMap<string, Buffer>, revision: string): Map<string, Buffer> {
  const manifest = files.get(MANIFEST_FILE)?.toString('utf8') ?? '{}'
  const hasRevision = (readOwnManifest(MANIFEST_FILE, manifest).revision ?? '') !== ''
  const changed = new Map(files)
  if (!hasRevision && !files.has(SIGNATURES_FILE))
    changed.set(MANIFEST_FILE, Buffer.from(JSON.stringify({ ...parseObject(manifest), revision })))
  return changed
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch (raw) {
    throw new AppError('invalid', `read ${MANIFEST_FILE}: ${toError(raw).message}`, { cause: raw })
  }
}
