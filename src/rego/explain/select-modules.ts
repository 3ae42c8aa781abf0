import { packagePath } from '../values/package-line.js'
import { findReferences } from '../lint/find-references.js'
import type { RegoFile } from '../modules/rego-module.js'
import { readTokens } from '../modules/tokens/read-tokens.js'

/**
 * Returns the files of packages at or below some paths, and those of all packages that they refer
 * to. A path may lead into a package.
 */
export function selectModules(
  files: readonly RegoFile[],
  paths: readonly (readonly string[])[],
): readonly RegoFile[] {
  const left = new Map(files.map((file) => [file, packagePath(file.text) ?? []]))
  const selected = new Set<RegoFile>()
  const wanted = [...paths]
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    for (const [file, own] of left) {
      if (!overlaps(own, path)) continue
      left.delete(file)
      selected.add(file)
      wanted.push(own, ...referencesOf(file))
    }
  }
  return files.filter((file) => selected.has(file))
}

/** Returns the paths below `data` that a file refers to. */
export function referencesOf({ text }: RegoFile): (readonly string[])[] {
  const { imports, reads, replaced } = findReferences(readTokens(text).tokens)
  return [...imports, ...reads, ...replaced].map(({ path }) => path.map(String))
}

/** True if one path leads to or into the other. */
export function overlaps(a: readonly string[], b: readonly string[]): boolean {
  return a.slice(0, b.length).every((segment, place) => segment === b[place])
}
