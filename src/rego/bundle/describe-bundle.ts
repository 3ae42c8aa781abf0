import { ownMember } from '../../lib/own-member.js'
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { askedDocuments } from '../modules/rego-module.js'
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

/**
 * A bundle as a part of a snapshot. Raises `invalid` when it holds Rego but no compiled module, or anything outside of its roots.
 */
export function describeBundle(
  file: string,
  bytes: Uint8Array,
  bundle: BundleFiles,
  { data, documents }: PartData,
): PolicyPart {
  if (bundle.wasm === undefined && (bundle.rego.size > 0 || bundle.hasPlan)) {
    throw new AppError(
      'invalid',
      `bundle ${file} has no policy.wasm: build it with \`tidegate build\` or \`opa build --target wasm\`, or give its directory with --policies`,
    )
  }
  const rego = [...bundle.rego].map(([name, text]) => ({ file: `${file}/${name}`, text }))
  const modules = rego.flatMap((module) => outlineModule(module) ?? [])
  const ofSources = [...rego.flatMap(({ text }) => [packagePath(text) ?? []]), ...askedDocuments(modules)]
  const packages = bundle.index?.packages ?? ofSources
  const rules = bundle.index && new Set(bundle.index.rules)
  refuseOutsideRoots(file, bundle, { packages: [...packages, ...ofSources], data })
  return {
    name: file,
    paths: [file],
    revision: bundle.revision || `sha256:${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`,
    compiled:
      bundle.wasm === undefined
        ? undefined
        : {
            wasm: bundle.wasm,
            keyOf: (entrypoint) => keyIn(bundle, entrypoint),
            isAskedFor: isAskedForIn(bundle),
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
    // A bundle that says nothing of its entrypoints may hold packages and rules: either way the path leads into its value.
    kindOf: (key) => (rules === undefined || rules.has(key) ? 'rule' : 'document'),
    isRule: (path) => rules?.has(pathKey(path)) ?? isRuleBelow(packages, path),
  }
}

/** The data files of a bundle, each with where its document belongs. */
export function dataFilesOf(bundle: string, { data }: BundleFiles): DataFile[] {
  return [...data].map(([name, content]) => {
    const directory = dirname(name)
    return { file: `${bundle}/${name}`, at: directory === '.' ? [] : directory.split('/'), content }
  })
}

/** Our own bundles say which file a name stands for; others hold the files themselves under it. */
function sourceIn(file: string, { index, rego }: BundleFiles, name: string): string | undefined {
  const source = (index && ownMember(index.files, name)) ?? (rego.has(name) ? name : undefined)
  return source === undefined ? undefined : `${file}/${source}`
}

/** The paths of its packages, and all that lead to its rules, as far as our own bundles tell. */
function documentPathsIn({ index }: BundleFiles): string[][] {
  const rules = (index?.rules ?? []).map(pathOfKey)
  const above = [...rules, ...(index?.packages ?? []).map((path) => [...path, ''])].flatMap((path) =>
    path.map((_, length) => path.slice(0, length)),
  )
  return distinctPaths(above)
}

/** Modules have entrypoints that OPA added and nobody asked for: our own bundles tell which ones are meant. */
function isAskedForIn(bundle: BundleFiles): (key: string) => boolean {
  if (bundle.index === undefined) return () => true
  const known = new Set([...bundle.index.rules, ...documentPathsIn(bundle).map(pathKey)])
  return (key) => known.has(key)
}

/** OPA names an entrypoint by its path joined with `/`, and has no name for a slash inside a segment. */
function keyIn({ index }: BundleFiles, entrypoint: string): string {
  return index?.paths[entrypoint] ?? (entrypoint === '' ? '' : pathKey(entrypoint.split('/')))
}

/** Rego that was compiled away leaves its package line: what is below a package, and is none itself, is a rule. */
function isRuleBelow(packages: PolicyPart['packages'], path: readonly string[]): boolean {
  const key = pathKey(path)
  const keys = packages.map(pathKey)
  return !keys.some((other) => isRootOver(key, other)) && keys.some((other) => isRootOver(other, key))
}
