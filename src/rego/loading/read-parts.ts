import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { readBundle } from '../archive/read-bundle.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import { dataFilesOf, describeBundle } from '../bundle/describe-bundle.js'
import { refuseBundleLosses } from '../workarounds/bundle-losses.js'
import { NO_VERIFICATION } from '../bundle/signing/verification.js'
import type { BundleVerification } from '../bundle/signing/verification.js'
import { verifyBundle } from '../bundle/signing/verify-bundle.js'
import { MAX_ENTRYPOINTS } from '../compile/build-module.js'
import type { BuildModule } from '../compile/build-module.js'
import { collectSources } from '../compile/collect-sources.js'
import type { PolicySources } from '../compile/collect-sources.js'
import { compileSources } from '../compile/compile-policies.js'
import type { CompiledPolicies } from '../compile/compile-policies.js'
import { withoutRoot } from '../modules/stage-bundle.js'
import type { PartData } from '../data/base-document.js'
import type { DataFile } from '../data/load-data.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import type { PartModule, PolicyPart } from '../snapshot/policy-part.js'

export interface PolicyLocations {
  /** Rego directories or files, compiled together. */
  readonly directories: readonly string[]
  /** OPA bundles (`.tar.gz`) with a `policy.wasm`. */
  readonly bundles: readonly string[]
  readonly includeTests?: boolean
  /** As in `collectSources`. */
  readonly includesAllData?: boolean
  /** Files to compile instead of those of the directories. */
  readonly sources?: PolicySources
}

export interface ReadOptions {
  /** Finds the compiler. Called only if there is Rego to compile, or to check in a bundle. */
  readonly findOpa: () => Promise<OpaProgram>
  /**
   * Returns how to verify bundles; called only if there are any. Without it signed bundles are
   * refused.
   */
  readonly verification?: () => BundleVerification
  /** Largest number of entrypoints of a compiled module; `MAX_ENTRYPOINTS` by default. */
  readonly maxEntrypoints?: number
  /** True to compile calls of `print`. */
  readonly includesPrint?: boolean | undefined
  /** Builds the module; `buildModule` by default. */
  readonly buildModule?: BuildModule
}

/** The files of a directory set or bundle. */
export interface PartSource {
  readonly dataFiles: readonly DataFile[]
  /** The size of the policies in bytes: Rego text, or a compiled module. */
  readonly policyBytes: number
  /** Compiles or checks the part with its data. Raises `invalid` with every problem. */
  readonly toPart: (data: PartData) => Promise<PolicyPart>
}

/** Reads the files of all parts and verifies bundles. Raises `invalid` for unreadable files. */
export async function readParts(locations: PolicyLocations, options: ReadOptions): Promise<PartSource[]> {
  return await Promise.all([
    ...(locations.directories.length > 0 || locations.sources ? [readDirectories(locations, options)] : []),
    ...readBundles(locations.bundles, options),
  ])
}

async function readDirectories(
  { directories, includeTests = false, includesAllData, sources: given }: PolicyLocations,
  { findOpa, maxEntrypoints = MAX_ENTRYPOINTS, includesPrint, buildModule }: ReadOptions,
): Promise<PartSource> {
  const sources = given ?? (await collectSources(directories, { includeTests, includesAllData }))
  return {
    dataFiles: sources.data,
    policyBytes: sources.rego.reduce((sum, { text }) => sum + text.length, 0),
    toPart: async (data) => {
      const turns = new ShortTurns()
      const compiled = await compileSources(
        await findOpa(),
        sources,
        data,
        { maxEntrypoints, includesPrint },
        buildModule,
      )
      await turns.pause()
      return describeCompiled(directories, compiled)
    },
  }
}

function describeCompiled(directories: readonly string[], compiled: CompiledPolicies): PolicyPart {
  return {
    name: directories.join(','),
    paths: directories,
    revision: compiled.revision,
    compiled: compiledModule(compiled),
    data: compiled.data,
    documents: compiled.documents,
    packages: compiled.packages,
    rego: compiled.modules,
    modules: compiled.modules,
    leftOut: compiled.leftOut,
    expectedEntrypoints: [...compiled.entrypoints].flatMap(([key, kind]) => (kind === 'rule' ? [key] : [])),
    documentPaths: documentPathsOf(compiled),
    listsPackages: true,
    sourceFile: (name) => compiled.sourceNames.get(withoutRoot(name)),
    kindOf: (key) => compiled.entrypoints.get(key) ?? 'rule',
    isRule: (path) => compiled.entrypoints.get(pathKey(path)) === 'rule',
  }
}

function compiledModule({ wasm, paths, entrypoints }: CompiledPolicies): PartModule | undefined {
  if (wasm === undefined) return undefined
  // OPA adds entrypoints for rules that read others, with escaped names such as `é`. They are not
  // served.
  return {
    wasm,
    keyOf: (entrypoint) => paths.get(entrypoint) ?? entrypoint,
    isServed: (key) => entrypoints.has(key),
  }
}

/** Packages without rules are documents, too. */
function documentPathsOf({ entrypoints, packages }: CompiledPolicies): (readonly string[])[] {
  const documents = [...entrypoints].flatMap(([key, kind]) => (kind === 'document' ? [key] : []))
  return [...new Set([...documents, ...packages.map(pathKey)])].map(pathOfKey)
}

function readBundles(files: readonly string[], options: ReadOptions): Promise<PartSource>[] {
  if (files.length === 0) return []
  const verification = options.verification?.() ?? NO_VERIFICATION
  return files.map((file) => readBundleFile(file, verification, options.findOpa))
}

async function readBundleFile(
  file: string,
  verification: BundleVerification,
  findOpa: ReadOptions['findOpa'],
): Promise<PartSource> {
  const bytes = await readFile(file).catch((raw: unknown) => {
    throw new AppError('invalid', `read bundle ${file}: ${toError(raw).message}`, { cause: raw })
  })
  const files = await unpackBundle(file, bytes)
  verifyBundle(file, files, verification)
  const bundle = readBundle(file, files)
  return {
    dataFiles: dataFilesOf(file, bundle),
    policyBytes: bundle.wasm?.length ?? 0,
    toPart: async (data) => {
      const part = describeBundle(file, bytes, bundle, data)
      await refuseBundleLosses(file, bundle, findOpa)
      return part
    },
  }
}
