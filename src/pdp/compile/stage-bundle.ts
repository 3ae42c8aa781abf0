import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { printJson } from '../rego/print-text.js'
import type { RegoObject } from '../rego/value.js'
import type { RegoModule } from './rego-module.js'

type NameModule = (module: RegoModule, index: number) => string

/**
 * Lays modules and data out as a bundle whose manifest tells OPA the Rego version of each file (`rego_version` and
 * `file_rego_versions`), so that both versions compile together. `nameOf` gives another name within the bundle than the staged one.
 */
export async function stageBundle(
  directory: string,
  modules: readonly RegoModule[],
  data: RegoObject,
  nameOf: NameModule = stagedNames(),
): Promise<void> {
  const versions: Record<string, number> = {}
  for (const [index, module] of modules.entries()) {
    const name = nameOf(module, index)
    // A glob pattern.
    if (module.version === 1) versions[`/${name.replace(/[*?[\]{}\\!]/g, '\\$&')}`] = 1
    await writeInto(directory, name, module.text)
  }
  const manifest = { roots: [''], rego_version: 0, file_rego_versions: versions }
  await writeInto(directory, 'data.json', printJson(data))
  await writeInto(directory, '.manifest', JSON.stringify(manifest))
}

/** The way back from the names of staged files to the source files. */
export function sourceNames(modules: readonly RegoModule[], prefix = ''): ReadonlyMap<string, string> {
  return new Map(modules.map((module, index) => [stagedName(module, index, prefix), module.file]))
}

/** The same for names as OPA prints them; another name stays as it is. */
export function sourceFiles(modules: readonly RegoModule[], prefix = ''): (compiledName: string) => string {
  const sources = sourceNames(modules, prefix)
  return (compiledName) => sources.get(withoutRoot(compiledName)) ?? compiledName
}

/** The name of a file in a bundle without what OPA puts before it. */
export function withoutRoot(name: string): string {
  return name.replace(/^\.?\/+/, '')
}

/** The names of staged files; `prefix` (`x-`) tells them from those of another bundle. */
export function stagedNames(prefix = ''): NameModule {
  return (module, index) => stagedName(module, index, prefix)
}

/** Free of what file systems and command lines take for something else. */
function stagedName({ file }: RegoModule, index: number, prefix: string): string {
  const base = file.split(/[\\/]/).at(-1) ?? file
  return `${prefix}${index}/${base.replace(/[^\w.-]/g, '_')}`
}

async function writeInto(directory: string, name: string, text: string): Promise<void> {
  const path = join(directory, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
