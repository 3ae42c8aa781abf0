import { deleteDefinition } from '../../analysis/runs/analysis-operations.js'
import { AppError } from '../../errors/app-error.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import type { DefinitionFile } from './read-definition-files.js'

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
