import { deleteDefinition } from '../../analysis/runs/analysis-operations.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import type { DefinitionFile } from './read-definition-files.js'

/**
 * Takes in the definitions of a directory, and forgets those that came from files which are gone; what was said over HTTP stays.
 * What no reader of theirs knows is told to `warn`. Raises `invalid` as `readDefinitionFiles` does, before anything is changed.
 */
export async function defineFromFiles(
  directory: string | undefined,
  { writer, reader, lookups }: Pick<ServiceStore, 'writer' | 'reader' | 'lookups'>,
  nowMs: number,
  warn: (application: string, warning: string) => void,
  attempts?: WorkAttempts,
): Promise<void> {
  const actor = { nowMs, user: undefined, origin: 'configuration' }
  const files = await readFiles(directory, attempts)
  for (const { application, definition } of files) {
    if (definition === undefined) {
      warn(application, 'reading its file ended the service twice: it is not read again until it changes')
      continue
    }
    const request = { application, document: definition, origin: 'configuration' } as const
    // Most services have no such file: what reads definitions is loaded for those that do.
    const { defineAnalysis } = await import('../../analysis/runs/define-analysis.js')
    const { warnings } = await defineAnalysis({ writer, reader }, request, actor)
    for (const warning of warnings) warn(application, warning)
  }
  const named = new Set(files.map(({ application }) => application))
  for (const { application, origin } of await lookups.analysis.definitions()) {
    if (origin === 'configuration' && !named.has(application)) {
      await writer.run(deleteDefinition, { application, actor })
    }
  }
}

async function readFiles(
  directory: string | undefined,
  attempts: WorkAttempts | undefined,
): Promise<readonly DefinitionFile[]> {
  if (directory === undefined) return []
  const { readDefinitionFiles } = await import('./read-definition-files.js')
  return await readDefinitionFiles(directory, attempts)
}
