import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { readBundle } from '../archive/read-bundle.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import { dataFilesOf, describeBundle, isSourceBundle } from '../bundle/describe-bundle.js'
import { NO_VERIFICATION } from '../bundle/signing/verification.js'
import type { SignatureDemand } from '../bundle/signing/verification.js'
import { verifyBundle } from '../bundle/signing/verify-bundle.js'
import type { BundleVerification } from '../bundle/signing/verification.js'
import { collectSources } from '../compile/collect-sources.js'
import type { PolicySources } from '../compile/collect-sources.js'
import { publicNames } from '../snapshot/public-names.js'
import { refuseBundleLosses } from '../workarounds/bundle-losses.js'
import { writtenFiles } from '../writing/written-policies.js'
import type { WrittenPolicies } from '../writing/written-policies.js'
import { compiledPart } from './compiled-part.js'
import type { ReadDirectories } from './compiled-part.js'
import type { PartSource, PolicyLocations, ReadBundle, ReadOptions } from './part-source.js'

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

async function readBundles(
  { bundles, downloads = [] }: PolicyLocations,
  options: ReadOptions,
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
  verifyBundle(name, files, keys, demand)
  return { name, bytes, files, bundle: readBundle(name, files) }
}

/** Returns the part of a bundle with a compiled module, or without Rego. */
function bundlePart({ name, bytes, bundle }: ReadBundle, { findOpa }: ReadOptions): PartSource {
  const dataFiles = dataFilesOf(name, bundle)
  return {
    dataFiles: [dataFiles],
    policyBytes: bundle.wasm?.length ?? 0,
    toPart: async ([data]) => {
      if (data === undefined) throw new AppError('internal', `the data of bundle ${name} was not read`)
      const part = describeBundle(name, bytes, bundle, data)
      await refuseBundleLosses(name, bundle, findOpa)
      return part
    },
  }
}
