import { readFile, readdir } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { readUsableDefinition } from '../analysis/runs/define-analysis.js'
import type { AnalysisDefinition } from '../analysis/runs/definition.js'
import { parseDocumentFile } from '../analysis/runs/parse-document.js'
import { AppError, toError } from '../errors.js'

/** How one application is analysed, as a file says it; the file is named after the application. */
export interface DefinitionFile {
  readonly application: string
  readonly definition: AnalysisDefinition
}

const EXTENSIONS = new Set(['.json', '.yaml', '.yml'])

/**
 * The definitions in a directory, one file an application. Raises `invalid` naming every file that cannot be read, is no usable
 * definition, or speaks of an application that another file defines.
 */
export async function readDefinitionFiles(directory: string | undefined): Promise<readonly DefinitionFile[]> {
  if (directory === undefined) return []
  const problems: string[] = []
  const definitions = new Map<string, DefinitionFile>()
  for (const base of await namesIn(directory)) {
    const { name: application, ext } = parse(base)
    if (!EXTENSIONS.has(ext)) continue
    try {
      const definition = readUsableDefinition(
        parseDocumentFile(await readFile(join(directory, base), 'utf8')),
      )
      if (definitions.has(application)) problems.push(`${base}: another file defines ${application}, too`)
      definitions.set(application, { application, definition })
    } catch (raw) {
      problems.push(`${base}: ${toError(raw).message}`)
    }
  }
  if (problems.length === 0) return [...definitions.values()]
  throw new AppError('invalid', `analysis.definitions, in ${directory}: ${problems.join('\n')}`)
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (cause) {
    throw new AppError('invalid', `analysis.definitions cannot be read: ${toError(cause).message}`, { cause })
  }
}
