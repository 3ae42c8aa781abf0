import { ownMember } from '../../lib/own-member.js'
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { evaluatedDocuments } from '../modules/rego-module.js'
import { withoutRoot } from '../modules/stage-bundle.js'
import { distinctPaths, pathKey, pathOfKey } from '../values/path-key.js'
import { outlineModule } from '../modules/outline-module.js'
import type { PartData } from '../data/base-document.js'
import type { DataFile } from '../data/load-data.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { packagePath } from '../values/package-line.js'
import type { BundleFiles } from '../archive/read-bundle.js'
import { refuseOutsideRoots } from './refuse-outside-roots.js'
import { isRootOver } from '../archive/roots.js'

/** True for a bundle of Rego without a compiled module, which is compiled with the directories. */
export function isSourceBundle({ wasm, rego, hasPlan }: BundleFiles): boolean {
  return wasm === undefined && rego.size > 0 && !hasPlan
}

/** Returns the revision of the manifest, or a digest of the bundle. */
export function revisionOf({ revision }: BundleFiles, bytes: Uint8Array): string {
  return revision || `sha256:${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

interface VerifiedBundle {
  readonly bytes: Uint8Array
  readonly bundle: BundleFiles
  /** As in `PolicyPart.sources`. */
  readonly signer: string | undefined
}

/**
 * Returns a compiled bundle, or one without Rego, as a part of a snapshot. Raises `invalid` if it
 * has a plan in place of a module, or content outside of its roots.
 */
export function describeBundle(
  file: string,
  { bytes, bundle, signer }: VerifiedBundle,
  { data, documents }: PartData,
): PolicyPart {
  if (bundle.wasm === undefined && bundle.hasPlan) {
    throw new AppError(
      'invalid',
      `bundle ${file} has no policy.wasm but a plan: build it with \`tidegate build\`, or with \`opa build\` for the target wasm or rego`,
    )
  }
  const rego = [...bundle.rego].map(([name, text]) => ({ file: `${file}/${name}`, text }))
  const modules = rego.flatMap((module) => outlineModule(module) ?? [])
  const ofSources = [...rego.flatMap(({ text }) => [packagePath(text) ?? []]), ...evaluatedDocuments(modules)]
  const packages = bundle.index?.packages ?? ofSources
  const rules = bundle.index && new Set(bundle.index.rules)
  refuseOutsideRoots(file, bundle, { packages: [...packages, ...ofSources], data })
  return {
    name: file,
    sources: [{ paths: [file], revision: revisionOf(bundle, bytes), signer }],
    compiled:
      bundle.wasm === undefined
        ? undefined
        : {
            wasm: bundle.wasm,
            keyOf: (entrypoint) => keyIn(bundle, entrypoint),
            isServed: isServedIn(bundle),
          },
    data,
    documents,
    roots: bundle.roots,
    packages,
    rego,
    modules,
    expectedEntrypoints: [
      ...bundle.entrypoints.map((entrypoint) => keyIn(bundle, entrypoint)),
      ...(bundle.index?.rules ?? []),
    ],
    documentPaths: documentPathsIn(bundle),
    listsPackages: bundle.wasm === undefined || bundle.index !== undefined || rego.length > 0,
    sourceFile: (compiledName) => sourceIn(file, bundle, withoutRoot(compiledName)),
    // Without a list of entrypoints, a path may be a package or a rule. Both lead to its value.
    kindOf: (key) => (rules === undefined || rules.has(key) ? 'rule' : 'document'),
    isRule: (path) => rules?.has(pathKey(path)) ?? isRuleBelow(packages, path),
  }
}

/** Returns the data files of a bundle with the paths of their documents. */
export function dataFilesOf(bundle: string, { data }: BundleFiles): DataFile[] {
  return [...data].map(([name, content]) => {
    const directory = dirname(name)
    return { file: `${bundle}/${name}`, at: directory === '.' ? [] : directory.split('/'), content }
  })
}

/**
 * Bundles of `tidegate build` map staged names to source files; others contain the files under
 * these names.
 */
function sourceIn(file: string, { index, rego }: BundleFiles, name: string): string | undefined {
  const source = (index && ownMember(index.files, name)) ?? (rego.has(name) ? name : undefined)
  return source === undefined ? undefined : `${file}/${source}`
}

/**
 * Returns the paths of packages, and those above rules if the bundle was made by `tidegate build`.
 */
function documentPathsIn({ index }: BundleFiles): string[][] {
  const rules = (index?.rules ?? []).map(pathOfKey)
  const above = [...rules, ...(index?.packages ?? []).map((path) => [...path, ''])].flatMap((path) =>
    path.map((_, length) => path.slice(0, length)),
  )
  return distinctPaths(above)
}

/**
 * Modules have entrypoints that OPA added. The manifest of `tidegate build` lists the intended
 * ones.
 */
function isServedIn(bundle: BundleFiles): (key: string) => boolean {
  if (bundle.index === undefined) return () => true
  const known = new Set([...bundle.index.rules, ...documentPathsIn(bundle).map(pathKey)])
  return (key) => known.has(key)
}

/** OPA joins the path of an entrypoint with `/` and cannot name a slash within a segment. */
function keyIn({ index }: BundleFiles, entrypoint: string): string {
  return index?.paths[entrypoint] ?? (entrypoint === '' ? '' : pathKey(entrypoint.split('/')))
}

/**
 * A bundle keeps the package line of compiled Rego. An entrypoint below a package that is not a
 * package is a rule.
 */
function isRuleBelow(packages: PolicyPart['packages'], path: readonly string[]): boolean {
  const key = pathKey(path)
  const keys = packages.map(pathKey)
  return !keys.some((other) => isRootOver(key, other)) && keys.some((other) => isRootOver(other, key))
}
