import { callStorage } from './connection.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { isSuccess, refused } from './refusal.js'

/**
 * Replaces the definition of a pipeline that exists (PUT {storage}/pipelines/{id}). Raises `not_found` for an id that the storage
 * service does not know, `invalid` with its reason for what it refuses.
 */
export async function updatePipeline(
  connection: OrchestratorConnection,
  pipelineId: string,
  definition: Definition,
  signal?: AbortSignal,
): Promise<void> {
  // The storage service refuses a body whose id is another one.
  const body = { ...definition, id: pipelineId }
  const path = `/pipelines/${encodeURIComponent(pipelineId)}`
  const response = await callStorage(connection, { method: 'PUT', path, body, isRepeatable: true, signal })
  if (!isSuccess(response)) throw refused(`update pipeline ${pipelineId}`, response)
}
