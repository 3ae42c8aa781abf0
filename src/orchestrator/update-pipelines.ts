import { AppError } from '../errors/app-error.js'
import { callStorage } from './connection.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { isSuccess, refused } from './refusal.js'
import { failureOf, pipelineId } from './store-report.js'
import type { StoreFailure, StoreReport } from './store-report.js'

/**
 * Replaces existing pipelines by the ids in their definitions, and creates none. A failure does not
 * prevent the others: the report names it. `progress` is called with the number of finished
 * pipelines.
 */
export async function updatePipelines(
  connection: OrchestratorConnection,
  pipelines: readonly Definition[],
  progress: (done: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<StoreReport> {
  const failures: StoreFailure[] = []
  for (const [index, pipeline] of pipelines.entries()) {
    const reason = await update(connection, pipeline, signal)
    if (reason !== undefined) failures.push(failureOf(pipeline, reason))
    progress(index + 1)
  }
  const stored = pipelines.length - failures.length
  return { mode: stored > 0 ? 'update' : undefined, stored, failures }
}

/** Returns why a pipeline was not replaced; undefined if it was. */
async function update(
  connection: OrchestratorConnection,
  pipeline: Definition,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const id = pipelineId(pipeline)
  if (id === undefined) return 'it has no id: pull it first, or store it as a new one'
  try {
    await updatePipeline(connection, id, pipeline, signal)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/**
 * Replaces the definition of an existing pipeline (PUT {storage}/pipelines/{id}). Raises
 * `not_found` for an unknown id, and `invalid` with the reason of a refusal.
 */
export async function updatePipeline(
  connection: OrchestratorConnection,
  pipelineId: string,
  definition: Definition,
  signal?: AbortSignal,
): Promise<void> {
  // The storage service refuses a body with another id.
  const body = { ...definition, id: pipelineId }
  const path = `/pipelines/${encodeURIComponent(pipelineId)}`
  const response = await callStorage(connection, { method: 'PUT', path, body, isRepeatable: true, signal })
  if (!isSuccess(response)) throw refused(`update pipeline ${pipelineId}`, response)
}
