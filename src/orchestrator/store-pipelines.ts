import { AppError } from '../errors/app-error.js'
import { parseJson } from '../lib/json/text/parse-json.js'
import type { OutboundResponse } from '../lib/outbound/outbound-client.js'
import { OutboundError } from '../lib/outbound/outbound-error.js'
import { isRecord } from '../lib/validation/record.js'
import { callStorage } from './connection.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { isSuccess, refusalText, refused } from './refusal.js'
import type { StoreMode } from './settings.js'
import { failureOf, pipelineId, pipelineName } from './store-report.js'
import type { StoreFailure, StoreReport } from './store-report.js'

/** Result of one part of the pipelines. */
interface PartOutcome {
  /** `unknown_way` means that the storage service does not seem to support this way. */
  readonly end: 'taken' | 'failed' | 'unknown_way'
  readonly failures: readonly StoreFailure[]
}

/** Pipelines per request: several MB at most. */
const PART_SIZE = 100

/** Ways of writing, in the order of trying. The contract's way comes first. */
const WAYS: readonly StoreMode[] = ['contract', 'batch', 'single']

/**
 * Statuses for an unknown path and for a body of the wrong form: a list instead of one pipeline is
 * a 400, in some versions a 500. A refusal of the pipelines looks the same, so its reason is kept,
 * too.
 */
const UNKNOWN_WAY: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 500, 501])

/**
 * Stores new and changed pipelines (contract 4.8). A refused pipeline does not prevent the others:
 * the report names it. Raises no errors of the storage service. `progress` is called with the
 * number of finished pipelines.
 */
export async function storePipelines(
  connection: OrchestratorConnection,
  pipelines: readonly Definition[],
  progress: (done: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<StoreReport> {
  const { storeMode } = connection.settings
  const failures: StoreFailure[] = []
  let ways = storeMode === 'auto' ? WAYS : [storeMode]
  let mode: StoreMode | undefined
  for (let start = 0; start < pipelines.length; start += PART_SIZE) {
    const part = pipelines.slice(start, start + PART_SIZE)
    const outcome = await storePart(connection, ways, part, signal)
    failures.push(...outcome.failures)
    if (outcome.end === 'taken') {
      mode = outcome.way
      ways = [mode]
    }
    progress(start + part.length)
  }
  return { mode, stored: Math.max(0, pipelines.length - failures.length), failures }
}

async function storePart(
  connection: OrchestratorConnection,
  ways: readonly StoreMode[],
  part: readonly Definition[],
  signal: AbortSignal | undefined,
): Promise<PartOutcome & { readonly way: StoreMode }> {
  const [way = 'single', ...others] = ways
  const outcome =
    way === 'single'
      ? await storeEach(connection, part, signal)
      : await storeList(connection, way, part, signal)
  if (outcome.end !== 'unknown_way' || others.length === 0) return { ...outcome, way }
  const next = await storePart(connection, others, part, signal)
  return next.end === 'taken' ? next : { ...next, failures: withEarlierReasons(next, outcome) }
}

function withEarlierReasons(last: PartOutcome, earlier: PartOutcome): StoreFailure[] {
  return last.failures.map((failure, index) => {
    const reason = earlier.failures[index]?.reason
    return reason === undefined
      ? failure
      : { ...failure, reason: `${failure.reason}; in another way: ${reason}` }
  })
}

async function storeList(
  connection: OrchestratorConnection,
  way: 'contract' | 'batch',
  part: readonly Definition[],
  signal: AbortSignal | undefined,
): Promise<PartOutcome> {
  const path = way === 'contract' ? '/pipelines' : '/pipelines/batchUpdate'
  const answer = await post(connection, path, part, part.every(hasId), signal)
  if (typeof answer === 'string') return allFailed(part, answer)
  if (!isSuccess(answer)) {
    const end = UNKNOWN_WAY.has(answer.status) ? 'unknown_way' : 'failed'
    return { ...allFailed(part, refusalText(answer)), end }
  }
  const failures = failuresInBatch(answer, part)
  if (failures === undefined && way === 'batch') {
    return allFailed(part, 'the storage service did not say which pipelines it stored')
  }
  return { end: 'taken', failures: failures ?? [] }
}

/** Sends pipelines one by one, since the storage service rewrites its whole cache after each. */
async function storeEach(
  connection: OrchestratorConnection,
  part: readonly Definition[],
  signal: AbortSignal | undefined,
): Promise<PartOutcome> {
  const failures: StoreFailure[] = []
  for (const pipeline of part) {
    const answer = await post(connection, '/pipelines', pipeline, hasId(pipeline), signal)
    if (typeof answer === 'string') failures.push(failureOf(pipeline, answer))
    else if (!isSuccess(answer)) failures.push(failureOf(pipeline, refusalText(answer)))
  }
  return { end: failures.length < part.length ? 'taken' : 'failed', failures }
}

/** Returns the response, or why there is none. */
async function post(
  connection: OrchestratorConnection,
  path: string,
  body: unknown,
  isRepeatable: boolean,
  signal: AbortSignal | undefined,
): Promise<OutboundResponse | string> {
  try {
    return await callStorage(connection, { method: 'POST', path, body, isRepeatable, signal })
  } catch (error) {
    if (error instanceof OutboundError) return error.message
    throw error
  }
}

/** Whether a pipeline has an id. Without one, each request creates another pipeline. */
function hasId(pipeline: Definition): boolean {
  return pipelineId(pipeline) !== undefined
}

function allFailed(part: readonly Definition[], reason: string): PartOutcome {
  return { end: 'failed', failures: part.map((pipeline) => failureOf(pipeline, reason)) }
}

/**
 * Returns the refused pipelines of a 200 of `/pipelines/batchUpdate`: `failed_pipelines`, each with
 * an `errorMsg`. Undefined for a response of another form.
 */
function failuresInBatch(
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

/** Reads an entry, which is a whole pipeline or its name. */
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
