import { AppError } from '../../errors/app-error.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import type { Logger } from '../../lib/logger.js'
import { repeat } from '../timers/repeat.js'

const LOOK_MS = 2000

export interface DefinitionWatchOptions {
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
