import { AppError } from '../../errors/app-error.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import type { Logger } from '../../lib/logger.js'
import { repeat } from '../timers/repeat.js'
import { deleteDefinition } from '../../analysis/runs/analysis-operations.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import type { DefinitionFile } from './read-definition-files.js'

const LOOK_MS = 2000

interface DefinitionWatchOptions {
  /** `analysis.definitions`. */
  readonly directory: string | undefined
  /** Takes in all files, and returns what is wrong with some. */
  readonly define: () => Promise<readonly string[]>
  readonly logger: Logger
}

/** The definition files of a service, which are read again when they change. */
export interface DefinitionWatch {
  readonly health: HealthPlugin
  /** Reads the files where they have changed since they were read. */
  readonly look: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Reads the definition files and looks for changes every two seconds. A file that cannot be used is logged and shown in the health
 * of the service; it keeps neither the service nor other definitions from working. Raises what `define` raises but `invalid`.
 */
export async function watchDefinitions(options: DefinitionWatchOptions): Promise<DefinitionWatch> {
  const { directory, define, logger } = options
  let problems: readonly string[] = []
  let read: string | undefined
  const readAll = async (): Promise<void> => {
    try {
      problems = await define()
    } catch (raw) {
      if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
      problems = [raw.message]
    }
    for (const problem of problems)
      logger.error({ problem }, 'an analysis definition cannot be used; the one before it stays in use')
  }
  const look = async (): Promise<void> => {
    if (directory === undefined) return
    const version = await versionOf(directory)
    if (version === read) return
    await readAll()
    read = version
  }
  if (directory === undefined) await readAll()
  else await look()
  const looking =
    directory === undefined
      ? undefined
      : repeat(LOOK_MS, look, (error) =>
          logger.error({ error: error.message }, 'analysis definitions could not be read again'),
        )
  return {
    health: {
      name: 'analysis_definitions',
      isUp: () => true,
      // Without the text of files, since anyone may read it.
      warning: () =>
        problems.length === 0
          ? undefined
          : `${problems.length} of the files in analysis.definitions cannot be used; the log of the service says why`,
    },
    look,
    stop: async () => {
      await looking?.stop()
    },
  }
}

/** What reads definitions is loaded where there are any. */
async function versionOf(directory: string): Promise<string> {
  const { versionOfDefinitions } = await import('../files/read-definition-files.js')
  return await versionOfDefinitions(directory)
}

/**
 * Takes in the definitions of a directory, and forgets those that came from files which are gone; definitions that were given over
 * HTTP stay. Returns what is wrong with files: the definitions that were read from these before stay. `warn` is given settings
 * that have no effect. Raises `invalid` where the directory cannot be read; then nothing is changed.
 */
export async function defineFromFiles(
  directory: string | undefined,
  { writer, reader, lookups }: Pick<ServiceStore, 'writer' | 'reader' | 'lookups'>,
  nowMs: number,
  warn: (application: string, warning: string) => void,
  attempts?: WorkAttempts,
): Promise<readonly string[]> {
  const actor = { nowMs, user: undefined, origin: 'configuration' }
  const files = await readFiles(directory, attempts)
  const problems: string[] = []
  for (const { application, definition, problem } of files) {
    if (problem !== undefined) problems.push(problem)
    if (definition === undefined) continue
    const request = { application, document: definition, origin: 'configuration' } as const
    // Most services have no such file: what reads definitions is loaded for those that do.
    const { defineAnalysis } = await import('../../analysis/runs/define-analysis.js')
    try {
      const { warnings } = await defineAnalysis({ writer, reader }, request, actor)
      for (const warning of warnings) warn(application, warning)
    } catch (raw) {
      if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
      problems.push(`${application}: ${raw.message}`)
    }
  }
  const named = new Set(files.map(({ application }) => application))
  for (const { application, origin } of await lookups.analysis.definitions()) {
    if (origin === 'configuration' && !named.has(application)) {
      await writer.run(deleteDefinition, { application, actor })
    }
  }
  return problems
}

async function readFiles(
  directory: string | undefined,
  attempts: WorkAttempts | undefined,
): Promise<readonly DefinitionFile[]> {
  if (directory === undefined) return []
  const { readDefinitionFiles } = await import('./read-definition-files.js')
  return await readDefinitionFiles(directory, attempts)
}
