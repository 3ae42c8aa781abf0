import { readFile, readdir, stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { readUsableDefinition } from '../../analysis/runs/define-analysis.js'
import type { AnalysisDefinition } from '../../analysis/runs/definitions/definition.js'
import { parseDocumentFile } from '../../analysis/runs/definitions/parse-document.js'
import { AppError, toError } from '../../errors/app-error.js'
import { UNNOTED_ATTEMPTS, isSuspended } from '../../lib/work-attempts.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'

/** How one application is analysed, as a file says it; the file is named after the application. */
export interface DefinitionFile {
  readonly application: string
  /** Undefined where reading it ended the process twice: what was read before stays. */
  readonly definition: AnalysisDefinition | undefined
}

/** The kind of a file, by which it is shown when it is suspended. */
const DEFINITION_FILE = 'definition-file'
/** Four times what a definition may have over HTTP: YAML has comments. A parser of YAML takes minutes for megabytes. */
const MAX_FILE_BYTES = 1024 * 1024
const EXTENSIONS = new Set(['.json', '.yaml', '.yml'])

/**
 * The definitions in a directory, one file an application. Raises `invalid` naming every file that cannot be read, is no usable
 * definition, or speaks of an application that another file defines.
 */
export async function readDefinitionFiles(
  directory: string,
  attempts: WorkAttempts = UNNOTED_ATTEMPTS,
): Promise<readonly DefinitionFile[]> {
  const problems: string[] = []
  const definitions = new Map<string, DefinitionFile>()
  for (const base of await namesIn(directory)) {
    const { name: application, ext } = parse(base)
    if (!EXTENSIONS.has(ext)) continue
    try {
      const definition = await readNoted(join(directory, base), base, attempts)
      if (definitions.has(application)) problems.push(`${base}: another file defines ${application}, too`)
      definitions.set(application, { application, definition })
    } catch (raw) {
      problems.push(`${base}: ${toError(raw).message}`)
    }
  }
  if (problems.length === 0) return [...definitions.values()]
  throw new AppError('invalid', `analysis.definitions, in ${directory}: ${problems.join('\n')}`)
}

/** A file that is written again is another one. */
async function readNoted(
  path: string,
  base: string,
  attempts: WorkAttempts,
): Promise<AnalysisDefinition | undefined> {
  const { size, mtimeMs } = await stat(path)
  if (size > MAX_FILE_BYTES) throw new AppError('invalid', `it has more than ${MAX_FILE_BYTES} bytes`)
  const work = { kind: DEFINITION_FILE, key: `${base} of ${new Date(mtimeMs).toISOString()}` }
  try {
    return await attempts.run(work, async () =>
      readUsableDefinition(parseDocumentFile(await readFile(path, 'utf8'))),
    )
  } catch (error) {
    if (isSuspended(error)) return undefined
    throw error
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (cause) {
    throw new AppError('invalid', `analysis.definitions cannot be read: ${toError(cause).message}`, { cause })
  }
}
