import { isRecord } from '../lib/record.js'
import { callStorage } from './connection.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { isSuccess, parseJson, refused } from './refusal.js'

/**
 * Replaces the definition of a pipeline that exists (PUT {storage}/pipelines/{id}) and gives it as it was stored. Raises
 * `not_found` for an id that the storage service does not know, `invalid` with its reason for what it refuses.
 */
export async function updatePipeline(
  connection: OrchestratorConnection,
  pipelineId: string,
  definition: Definition,
  signal?: AbortSignal,
): Promise<Definition> {
  // The storage service refuses a body whose id is another one.
  const body = { ...definition, id: pipelineId }
  const path = `/pipelines/${encodeURIComponent(pipelineId)}`
  const response = await callStorage(connection, { method: 'PUT', path, body, isRepeatable: true, signal })
  if (!isSuccess(response)) throw refused(`update pipeline ${pipelineId}`, response)
  const stored = parseJson(response.body.toString())
  return isRecord(stored) ? stored : body
}
