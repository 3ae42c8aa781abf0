import { readFile, readdir, stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { readUsableDefinition } from '../../analysis/runs/define-analysis.js'
import type { AnalysisDefinition } from '../../analysis/runs/definitions/definition.js'
import { parseDocumentFile } from '../../analysis/runs/definitions/parse-document.js'
import { AppError, toError } from '../../errors/app-error.js'
import { versionOfFile } from '../../lib/file-version.js'
import { UNNOTED_ATTEMPTS, isSuspended } from '../../lib/work-attempts.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'

/** An analysis definition read from a file that is named after its application. */
export interface DefinitionFile {
  readonly application: string
  /** Undefined if the file has a problem. The previous definition then stays in use. */
  readonly definition: AnalysisDefinition | undefined
  /** Why the file is not used, starting with its name. */
  readonly problem?: string
}

/** Kind under which a suspended file is listed. */
const DEFINITION_FILE = 'definition-file'
/**
 * Four times the limit over HTTP, to leave room for YAML comments. Parsing megabytes of YAML takes
 * minutes.
 */
const MAX_FILE_BYTES = 1024 * 1024
const EXTENSIONS = new Set(['.json', '.yaml', '.yml'])

const SUSPENDED = 'reading it ended the service twice; it is not read again until it changes'

/**
 * Reads the definition files of a directory, one per application. A file that is unreadable,
 * invalid or repeats an application gets a problem instead of a definition. Throws `invalid` if the
 * directory cannot be read.
 */
export async function readDefinitionFiles(
  directory: string,
  attempts: WorkAttempts = UNNOTED_ATTEMPTS,
): Promise<readonly DefinitionFile[]> {
  const files: DefinitionFile[] = []
  for (const base of await namesIn(directory)) {
    const { name: application, ext } = parse(base)
    if (!EXTENSIONS.has(ext)) continue
    const refuse = (problem: string): void =>
      void files.push({ application, definition: undefined, problem: `${base}: ${problem}` })
    if (files.some((file) => file.application === application)) {
      refuse(`another file also defines ${application}`)
      continue
    }
    try {
      const definition = await readAttempted(join(directory, base), base, attempts)
      if (definition === undefined) refuse(SUSPENDED)
      else files.push({ application, definition })
    } catch (raw) {
      refuse(toError(raw).message)
    }
  }
  return files
}

/** A string that changes when a definition file is added, removed or written. */
export async function versionOfDefinitions(directory: string): Promise<string> {
  const entries = await readdir(directory).catch(() => undefined)
  if (entries === undefined) return 'absent'
  const names = entries.filter((base) => EXTENSIONS.has(parse(base).ext))
  const versions = await Promise.all(
    names.sort().map(async (base) => `${base} ${(await versionOfFile(join(directory, base))) ?? ''}`),
  )
  return versions.join('\n')
}

/** The key contains the modification time, so a changed file is attempted again. */
async function readAttempted(
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
