import { escapeGlob } from '../../lib/text/escape-pattern.js'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { packFiles } from '../archive/pack-files.js'
import { printJson } from '../values/print-text.js'
import type { RegoObject } from '../values/value.js'
import type { RegoModule } from './rego-module.js'

type NameModule = (module: RegoModule, index: number) => string

/** Writes modules and data as a bundle to a directory. `nameOf` replaces the staged file names. */
export async function stageBundle(
  directory: string,
  modules: readonly RegoModule[],
  data: RegoObject,
  nameOf: NameModule = stagedName,
): Promise<void> {
  for (const [name, text] of bundleFiles(modules, data, nameOf, '/')) await writeInto(directory, name, text)
}

/**
 * Returns the files of a bundle. The manifest has the Rego version of each module (`rego_version`,
 * `file_rego_versions`), so that both versions compile together. `root` is `/` for a bundle in a
 * directory and empty for an archive, as OPA prefixes the names.
 */
export function bundleFiles(
  modules: readonly RegoModule[],
  data: RegoObject,
  nameOf: NameModule,
  root: '/' | '',
): (readonly [name: string, text: string])[] {
  const named = modules.map((module, index) => [nameOf(module, index), module] as const)
  const newer = named.filter(([, { version }]) => version === 1)
  // A glob pattern.
  const versions = newer.map(([name]) => [`${root}${escapeGlob(name)}`, 1] as const)
  const manifest = { roots: [''], rego_version: 0, file_rego_versions: Object.fromEntries(versions) }
  // OPA reads archives in order.
  return [
    ['.manifest', JSON.stringify(manifest)],
    ['data.json', printJson(data)],
    ...named.map(([name, { text }]) => [name, text] as const),
  ]
}

/** Returns the source files by staged name. */
export function sourceNames(modules: readonly RegoModule[]): ReadonlyMap<string, string> {
  return new Map(modules.map((module, index) => [stagedName(module, index), module.file]))
}

/** Returns a function that maps file names in OPA's output to source files; unknown names stay. */
export function sourceFiles(modules: readonly RegoModule[]): (compiledName: string) => string {
  const sources = sourceNames(modules)
  return (compiledName) => sources.get(withoutRoot(compiledName)) ?? compiledName
}

/** Returns the name of a file in a bundle without OPA's prefix. */
export function withoutRoot(name: string): string {
  return name.replace(/^\.?\/+/, '')
}

/** Longer names are cut at the start. */
const MAX_NAME_LENGTH = 60

/**
 * Returns the name of a staged file, without characters that are special to file systems, archives
 * or command lines.
 */
export function stagedName({ file }: RegoModule, index: number): string {
  const base = file.split(/[\\/]/).at(-1) ?? file
  const name = base.slice(-MAX_NAME_LENGTH).replace(/[^\w.-]/g, '_')
  // The id of a policy that a client wrote may end otherwise.
  return `${index}/${name.endsWith('.rego') ? name : `${name}.rego`}`
}

async function writeInto(directory: string, name: string, text: string): Promise<void> {
  const path = join(directory, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** The files of a bundle by their names. */
export type BundledFiles = readonly (readonly [name: string, text: string])[]

export const BUNDLE_FILE = 'bundle.tar.gz'
/** In characters. */
const [TINY_REGO, SMALL_REGO, LARGE_REGO] = [50_000, 200_000, 600_000]

/**
 * Returns settings for Go's garbage collector, which takes up to a third of OPA's time. With less
 * Rego it runs less often and OPA uses 10 to 50 MB more.
 */
export function environmentFor(files: BundledFiles): Readonly<Record<string, string>> {
  const size = files.reduce((sum, [, text]) => sum + text.length, 0)
  const given = process.env['GOGC']
  if (given !== undefined || size > LARGE_REGO) return {}
  if (size > SMALL_REGO) return { GOGC: '200' }
  const limit = size <= TINY_REGO ? '128MiB' : '256MiB'
  return { GOGC: 'off', GOMEMLIMIT: process.env['GOMEMLIMIT'] ?? limit }
}

/**
 * Writes a bundle as one uncompressed file. A thousand files take longer to write, read and remove
 * than to compile.
 */
export async function writeBundle(directory: string, files: BundledFiles): Promise<void> {
  await writeFile(join(directory, BUNDLE_FILE), await packFiles(files, 0))
}
