import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { parseDataFile } from '../data/base-document.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { printJson } from '../values/print-text.js'
import { parseAs } from './parse-modules.js'
import type { RegoModule } from './rego-module.js'

const FILE = 'module.rego'

/** A module with the name that its comments show as their file. */
interface Source extends Pick<RegoModule, 'text' | 'version'> {
  readonly id: string
}

/**
 * Returns the syntax trees of modules as JSON texts, in order, with one run of `opa parse` for each.
 * Undefined for a module with syntax that is newer than the program.
 */
export async function syntaxTrees(
  opa: OpaProgram,
  modules: readonly Source[],
): Promise<(string | undefined)[]> {
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const trees: (string | undefined)[] = []
    for (const { id, text, version } of modules) {
      await writeFile(join(directory, FILE), text)
      const { run } = await parseAs(opa, directory, version)
      trees.push(run.exitCode === 0 ? compact(run.stdout, id) : undefined)
    }
    return trees
  })
}

/** Numbers stay as written. */
function compact(tree: string, id: string): string {
  const text = printJson(parseDataFile('tree.json', Buffer.from(tree)))
  // Quotes in the strings of a module are escaped, so this matches locations only.
  return text.replaceAll(`"file":"${FILE}"`, () => `"file":${JSON.stringify(id)}`)
}
