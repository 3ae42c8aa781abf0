import type { OutboundResponse } from '../lib/outbound/outbound-client.js'
import { isRecord } from '../lib/validation/record.js'
import type { Definition } from './definition.js'
import { parseJson } from './refusal.js'
import { failureOf, pipelineName } from './store-report.js'
import type { StoreFailure } from './store-report.js'

/**
 * The pipelines that a 200 of `/pipelines/batchUpdate` says were refused: it answers `failed_pipelines` with an `errorMsg` in
 * each. Undefined where the answer is not of that form.
 */
export function failuresInBatch(
  response: OutboundResponse,
  pipelines: readonly Definition[],
): StoreFailure[] | undefined {
  const body = parseJson(response.body.toString())
  if (!isRecord(body)) return undefined
  const failed: unknown = body['failed_pipelines']
  const count = body['failed_pipelines_count']
  if (!Array.isArray(failed)) return count === 0 || 'successful_pipelines' in body ? [] : undefined
  return failed.map((one: unknown) => readFailure(one, pipelines))
}

/** An entry may be the whole pipeline or its name alone. */
function readFailure(entry: unknown, pipelines: readonly Definition[]): StoreFailure {
  const refused: Definition = isRecord(entry) ? entry : { name: entry }
  const sent = pipelines.find(
    (pipeline) =>
      pipelineName(pipeline).toLowerCase() === pipelineName(refused).toLowerCase() &&
      (refused['application'] === undefined || refused['application'] === pipeline['application']),
  )
  const { errorMsg } = refused
  const reason = typeof errorMsg === 'string' && errorMsg !== '' ? errorMsg : 'the storage service refused it'
  return failureOf(sent ?? refused, reason)
}
