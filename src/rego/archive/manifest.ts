import { z } from 'zod'

import { AppError, toError } from '../../errors/app-error.js'
import { areApart } from './roots.js'

/** Notes of `tidegate build`, so that a bundle loads like its sources. */
const BundleIndex = z.object({
  /** Package paths below `data`. */
  packages: z.array(z.array(z.string())),
  /** The keys of the paths that are rules. All others are documents. */
  rules: z.array(z.string()),
  /** The keys of paths by entrypoint, for entrypoints with other names. */
  paths: z.record(z.string(), z.string()).default({}),
  /** The source files by their names in the module's errors. */
  files: z.record(z.string(), z.string()).default({}),
})
export type BundleIndex = z.infer<typeof BundleIndex>

/** The members of `.manifest` that OPA reads, and Tidegate's notes. Other members are ignored. */
const Manifest = z.object({
  revision: z.string().nullish(),
  /** Paths below `data` that the bundle owns, joined with `/`; all of `data` by default. */
  roots: z.array(z.string()).nullish(),
  wasm: z
    .array(z.object({ entrypoint: z.string(), module: z.string() }))
    .nullish()
    .transform((resolvers) => resolvers ?? []),
  metadata: z.looseObject({ tidegate: BundleIndex.optional() }).nullish(),
})

/** Of the revision, which each decision names, and of a root, in characters. */
const MAX_LENGTH = 1000
export const MANIFEST_FILE = '.manifest'
export const MODULE_FILE = 'policy.wasm'

/** A checked manifest. */
export interface BundleManifest {
  readonly revision: string
  /** Without surrounding slashes; none is below another. */
  readonly roots: readonly string[]
  /** The entrypoints that OPA evaluates with the module. */
  readonly entrypoints: readonly string[]
  readonly index: BundleIndex | undefined
}

/**
 * Returns the manifest of a bundle, or the default one. Raises `invalid`, naming the bundle, as OPA
 * does.
 */
export function readManifest(bundle: string, files: ReadonlyMap<string, Buffer>): BundleManifest {
  const content = files.get(MANIFEST_FILE)
  try {
    const { revision, roots, wasm, metadata } = Manifest.parse(
      content === undefined ? {} : JSON.parse(content.toString('utf8')),
    )
    if ((revision ?? '').length > MAX_LENGTH)
      throw new Error(`the revision has more than ${MAX_LENGTH} characters`)
    if (roots?.some((root) => root.length > MAX_LENGTH) === true)
      throw new Error(`a root has more than ${MAX_LENGTH} characters`)
    const missing = wasm.find(({ module }) => module.replace(/^\//, '') !== MODULE_FILE)
    if (missing !== undefined) throw new Error(`the module ${missing.module} is not ${MODULE_FILE}`)
    if (wasm.length > 0 && !files.has(MODULE_FILE)) throw new Error(`there is no ${MODULE_FILE}`)
    return {
      revision: revision ?? '',
      roots: readRoots(roots ?? ['']),
      entrypoints: wasm.map(({ entrypoint }) => entrypoint),
      index: metadata?.tidegate,
    }
  } catch (raw) {
    throw new AppError('invalid', `read bundle ${bundle}: ${MANIFEST_FILE}: ${toError(raw).message}`, {
      cause: raw,
    })
  }
}

/** The members of a manifest next to policies that `tidegate build` copies to the bundle. */
const OwnManifest = Manifest.pick({ revision: true, roots: true, metadata: true })
export type OwnManifest = z.infer<typeof OwnManifest>

/** Reads a manifest next to policies. Raises `invalid`, naming it. */
export function readOwnManifest(file: string, text: string): OwnManifest {
  try {
    return OwnManifest.parse(JSON.parse(text))
  } catch (raw) {
    throw new AppError('invalid', `read ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function readRoots(given: readonly string[]): string[] {
  const roots = given.map((root) => root.replace(/^\/+|\/+$/g, ''))
  if (areApart(roots)) return roots
  const shorter = new Set<string>()
  for (const root of roots.toSorted((one, other) => one.length - other.length)) {
    const steps = root.split('/')
    const above = ['', ...steps.map((_, at) => steps.slice(0, at + 1).join('/'))].find((path) =>
      shorter.has(path),
    )
    if (above !== undefined) throw new Error(`the root '${root}' is in the root '${above}'`)
    shorter.add(root)
  }
  return roots
}
