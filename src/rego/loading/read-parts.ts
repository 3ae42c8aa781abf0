import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { readBundle } from '../archive/read-bundle.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import { dataFilesOf, describeBundle, isSourceBundle, revisionOf } from '../bundle/describe-bundle.js'
import { NO_VERIFICATION } from '../bundle/signing/verification.js'
import type { SignatureDemand, BundleVerification } from '../bundle/signing/verification.js'
import { verifyBundle } from '../bundle/signing/verify-bundle.js'
import { collectSources, isTestFile, readRegoText } from '../compile/collect-sources.js'
import type { PolicySources, ReadRego } from '../compile/collect-sources.js'
import { namesWithoutPlace, publicNames } from '../snapshot/public-names.js'
import { refuseBundleLosses } from '../workarounds/bundle-losses.js'
import { writtenFiles } from '../writing/written-policies.js'
import type { WrittenPolicies } from '../writing/written-policies.js'
import type { PartSource, PolicyLocations, ReadBundle, ReadOptions } from './part-source.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { ownedRoots } from '../archive/roots.js'
import { refuseOutsideRoots } from '../bundle/refuse-outside-roots.js'
import { MAX_ENTRYPOINTS } from '../compile/build-module.js'
import { compileSources } from '../compile/compile-policies.js'
import type { CompiledPolicies } from '../compile/compile-policies.js'
import type { PartData } from '../data/base-document.js'
import { compileError } from '../modules/opa-errors.js'
import { evaluatedDocuments } from '../modules/rego-module.js'
import type { RegoModule } from '../modules/rego-module.js'
import { withoutRoot } from '../modules/stage-bundle.js'
import type { PartModule, PathOwner, PolicyPart } from '../snapshot/policy-part.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { RegoObject } from '../values/value.js'

const NO_DATA = new RegoObject([])

/** Reads the files of all parts and verifies bundles. Raises `invalid` for unreadable files. */
export async function readParts(locations: PolicyLocations, options: ReadOptions): Promise<PartSource[]> {
  const [own, bundles] = await Promise.all([
    readDirectories(locations, options),
    readBundles(locations, options),
  ])
  const sources = bundles.filter(({ bundle }) => isSourceBundle(bundle))
  const parts = bundles.filter(({ bundle }) => !isSourceBundle(bundle)).map((one) => bundlePart(one, options))
  return own === undefined && sources.length === 0
    ? parts
    : [compiledPart({ own, bundles: sources }, options), ...parts]
}

async function readDirectories(
  { directories, bundles, sources, includeTests = false, includesAllData }: PolicyLocations,
  { written }: ReadOptions,
): Promise<ReadDirectories | undefined> {
  if (sources !== undefined) return { directories, sources }
  if (directories.length === 0 && written === undefined) return undefined
  const mayBeEmpty = written !== undefined
  const files = await collectSources(directories, { includeTests, includesAllData, mayBeEmpty })
  if (written === undefined) return { directories, sources: files }
  const idOf = publicNames(directories, bundles).file
  return {
    directories,
    sources: withWritten(files, written, idOf),
    fileIds: files.rego.map(({ file }) => idOf(file)),
  }
}

/** Returns sources in which written policies and data take precedence over those of files. */
function withWritten(
  files: PolicySources,
  written: WrittenPolicies,
  idOf: (file: string) => string,
): PolicySources {
  const { modules, data } = written
  const rego = files.rego.filter(({ file }) => !modules.has(idOf(file)))
  return { ...files, rego: [...rego, ...writtenFiles(written)], data: [...files.data, ...data] }
}

/** Reads and verifies bundles. Raises `invalid` for those that cannot be read or do not verify. */
export async function readBundles(
  { bundles, downloads = [] }: PolicyLocations,
  options: Pick<ReadOptions, 'verification'>,
): Promise<ReadBundle[]> {
  if (bundles.length + downloads.length === 0) return []
  const verification = options.verification?.() ?? NO_VERIFICATION
  return await Promise.all([
    ...bundles.map((file) => readBundleFile(file, file, verification.keys, verification.demandOf(file))),
    ...downloads.map(({ source, file }) =>
      readBundleFile(source, file, verification.keys, verification.demandOfSource(source)),
    ),
  ])
}

async function readBundleFile(
  name: string,
  file: string,
  keys: BundleVerification['keys'],
  demand: SignatureDemand,
): Promise<ReadBundle> {
  const bytes = await readFile(file).catch((raw: unknown) => {
    throw new AppError('invalid', `read bundle ${name}: ${toError(raw).message}`, { cause: raw })
  })
  const files = await unpackBundle(name, bytes)
  const signer = verifyBundle(name, files, keys, demand)
  return { name, bytes, files, signer, bundle: readBundle(name, files) }
}

/** Returns the part of a bundle with a compiled module, or without Rego. */
function bundlePart({ name, bytes, bundle, signer }: ReadBundle, options: ReadOptions): PartSource {
  const { findOpa, isPublished = false } = options
  const dataFiles = dataFilesOf(name, bundle)
  return {
    dataFiles: [dataFiles],
    policyBytes: bundle.wasm?.length ?? 0,
    toPart: async ([data]) => {
      if (data === undefined) throw new AppError('internal', `the data of bundle ${name} was not read`)
      const part = describeBundle(name, { bytes, bundle, signer }, data)
      await refuseBundleLosses(name, bundle, findOpa)
      return isPublished && part.compiled !== undefined ? { ...part, original: bytes } : part
    },
  }
}

/** Directories with their files. */
interface ReadDirectories {
  readonly directories: readonly string[]
  readonly sources: PolicySources
  /** As in `PartSource`. */
  readonly fileIds?: readonly string[]
}

interface Readable {
  readonly own: ReadDirectories | undefined
  readonly bundles: readonly ReadBundle[]
}

/**
 * Returns the part that compiles directories and bundles of Rego together, so that they may refer
 * to each other. Raises `invalid` for Rego that is not UTF-8.
 */
function compiledPart(
  readable: Readable,
  { findOpa, maxEntrypoints = MAX_ENTRYPOINTS, includesPrint, buildModule }: ReadOptions,
): PartSource {
  const { own, bundles } = readable
  const rego = [...(own?.sources.rego ?? []), ...bundles.flatMap(readRego)]
  const dataFiles = [
    ...(own === undefined ? [] : [own.sources.data]),
    ...bundles.map(({ name, bundle }) => dataFilesOf(name, bundle)),
  ]
  const sources = {
    rego,
    data: dataFiles.flat(),
    leftOut: own?.sources.leftOut ?? { rego: [], data: [] },
  }
  return {
    dataFiles,
    fileIds: own?.fileIds,
    policyBytes: rego.reduce((sum, { text }) => sum + text.length, 0),
    toPart: async (data) => {
      const turns = new ShortTurns()
      const [first] = data
      const compiled = await compileSources(
        await findOpa(),
        sources,
        { data: first?.data ?? NO_DATA, documents: data.flatMap(({ documents }) => documents) },
        { maxEntrypoints, includesPrint, nameInRevision: namesWithoutPlace(rootsOf(readable)) },
        buildModule,
      )
      await turns.pause()
      return describeCompiled(readable, compiled, data)
    },
  }
}

function rootsOf({ own, bundles }: Readable): readonly string[] {
  return [...(own?.directories ?? []), ...bundles.map(({ name }) => name)]
}

/** Returns the Rego of a bundle without its tests, which are not served. */
function readRego({ name, files, bundle }: ReadBundle): ReadRego['file'][] {
  const read = [...bundle.rego.keys()]
    .filter((file) => !isTestFile(file))
    .map((file) => readRegoText(`${name}/${file}`, files.get(file) ?? Buffer.alloc(0)))
  const malformed = read.flatMap((one) => one.malformed)
  if (malformed.length > 0) throw compileError(malformed)
  return read.map(({ file }) => file)
}

function describeCompiled(
  readable: Readable,
  compiled: CompiledPolicies,
  data: readonly PartData[],
): PolicyPart {
  const { own, bundles } = readable
  const directories = own?.directories ?? []
  const owners = bundles.length === 0 ? undefined : ownersOf(readable, compiled, data)
  return {
    name: rootsOf(readable).join(','),
    sources: [
      ...(own === undefined ? [] : [{ paths: directories, revision: compiled.revision }]),
      ...bundles.map(({ name, bundle, bytes, signer }) => ({
        ...{ paths: [name], revision: revisionOf(bundle, bytes), signer },
      })),
    ],
    ...(owners && { owners }),
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

/**
 * Returns the paths that the directories and each bundle own. Raises `invalid` if a bundle has
 * content outside of its roots.
 */
function ownersOf(
  { own, bundles }: Readable,
  { modules }: CompiledPolicies,
  data: readonly PartData[],
): PathOwner[] {
  const ownFiles = new Set(own?.sources.rego.map(({ file }) => file))
  const owner = own && {
    name: own.directories.join(','),
    roots: ownedRoots(packagesOf(modules.filter(({ file }) => ownFiles.has(file))), data[0]?.data ?? NO_DATA),
  }
  return [
    ...(owner === undefined ? [] : [owner]),
    ...bundles.map(({ name, bundle }, index) => {
      const contents = data[index + (own === undefined ? 0 : 1)]?.data ?? NO_DATA
      const packages = packagesOf(modules.filter(({ file }) => file.startsWith(`${name}/`)))
      refuseOutsideRoots(name, bundle, { packages, data: contents })
      return { name, roots: bundle.roots }
    }),
  ]
}

function packagesOf(modules: readonly RegoModule[]): (readonly string[])[] {
  return [...modules.map(({ packagePath }) => packagePath), ...evaluatedDocuments(modules)]
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
