import { AppError, toError } from '../../errors/app-error.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import type { Logger } from '../../lib/logger.js'
import { repeat } from '../timers/repeat.js'
import type { Repeated } from '../timers/repeat.js'
import { deleteDefinition } from '../../analysis/runs/analysis-operations.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import type { DefinitionFile } from './read-definition-files.js'

const CHECK_MS = 2000

interface DefinitionWatchOptions {
  /** Returns the directory, which may change. Undefined if there is none. */
  readonly directory: () => string | undefined
  /** Imports all files and returns the problems of some. */
  readonly define: () => Promise<readonly string[]>
  readonly logger: Logger
}

/** The definition files of a service, read again when they change. */
export interface DefinitionWatch {
  readonly health: HealthPlugin
  /** Reads the files if they or the directory have changed since the last read. */
  readonly check: () => Promise<void>
  /** Checks soon, because the directory changed. */
  readonly moved: () => void
  readonly stop: () => Promise<void>
}

/**
 * Reads the definition files and checks for changes every two seconds. An unusable file is logged
 * and shown in the health of the service, and affects no other definition. Throws errors of
 * `define` except `invalid`.
 */
export async function watchDefinitions(options: DefinitionWatchOptions): Promise<DefinitionWatch> {
  const { directory, define, logger } = options
  let problems: readonly string[] = []
  let read: string | undefined
  let checking: Repeated | undefined
  const failed = (raw: unknown): void =>
    logger.error({ error: toError(raw).message }, 'analysis definitions could not be read again')
  const readAll = async (): Promise<void> => {
    try {
      problems = await define()
    } catch (raw) {
      if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
      problems = [raw.message]
    }
    for (const problem of problems)
      logger.error({ problem }, 'an analysis definition cannot be used; the previous one stays in use')
  }
  const check = async (): Promise<void> => {
    const path = directory()
    const version = path === undefined ? 'none' : `${path}\n${await versionOf(path)}`
    if (path !== undefined) checking ??= repeat(CHECK_MS, check, failed)
    if (version === read) return
    await readAll()
    read = version
  }
  await check()
  return {
    health: {
      name: 'analysis_definitions',
      isUp: () => true,
      // Anyone may read the health, so file contents are left out.
      warning: () =>
        problems.length === 0
          ? undefined
          : `${problems.length} of the files in analysis.definitions cannot be used; the log of the service shows why`,
    },
    check,
    moved: () => void (checking?.runNow() ?? check().catch(failed)),
    stop: async () => {
      await checking?.stop()
    },
  }
}

/** Loaded on demand, because most services have no definition files. */
async function versionOf(directory: string): Promise<string> {
  const { versionOfDefinitions } = await import('../files/read-definition-files.js')
  return await versionOfDefinitions(directory)
}

/**
 * Imports the definitions of a directory and deletes imported ones whose file is gone. Definitions
 * sent over HTTP stay. Returns the problems of files, whose previous definitions stay in use.
 * `warn` receives settings without effect. Throws `invalid`, without any change, if the directory
 * cannot be read.
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
    // Loaded on demand, because most services have no definition files.
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

/** Throws one `invalid` with every problem of a directory of definitions. */
export async function refuseUnusable(directory: string): Promise<void> {
  const problems = (await readFiles(directory, undefined)).flatMap(({ problem }) => problem ?? [])
  if (problems.length === 0) return
  throw new AppError('invalid', 'the definitions in analysis.definitions cannot be used', {
    details: problems.map((message) => ({ code: 'invalid_definition', message })),
  })
}

async function readFiles(
  directory: string | undefined,
  attempts: WorkAttempts | undefined,
): Promise<readonly DefinitionFile[]> {
  if (directory === undefined) return []
  const { readDefinitionFiles } = await import('./read-definition-files.js')
  return await readDefinitionFiles(directory, attempts)
}
