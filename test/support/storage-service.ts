import type { ServerResponse } from 'node:http'

import { respondJson, startLoopbackServer } from './loopback-server.js'
import type { LoopbackServer, SeenRequest } from './loopback-server.js'

type Pipeline = Record<string, unknown>

/** How a storage service takes pipelines. */
export interface StorageDialect {
  /**
   * A list at /pipelines, as the contract writes it; otherwise one object, as the orchestrator's
   * own.
   */
  readonly takesList: boolean
  readonly hasBatch: boolean
}

/** A storage service with the orchestrator's own behaviour, over a real socket. */
export interface StorageService extends LoopbackServer {
  readonly pipelines: Map<string, Pipeline>
}

/** One that refuses any pipeline named `refused`, with the words of a policy. */
export async function startStorageService({ takesList, hasBatch }: StorageDialect): Promise<StorageService> {
  const pipelines = new Map<string, Pipeline>()
  const store = (pipeline: Pipeline): string | undefined => {
    if (pipeline['name'] === 'refused') return 'denied by policy'
    pipelines.set(String(pipeline['name']), pipeline)
    return undefined
  }
  const server = await startLoopbackServer((request, response) => {
    const { method, url } = request
    if (method === 'POST' && url === '/pipelines') postPipelines(request, response, takesList, store)
    else if (method === 'POST' && url === '/pipelines/batchUpdate' && hasBatch) {
      postBatch(request, response, store)
    } else if (method === 'PUT') putPipeline(request, response, pipelines)
    else if (url.startsWith('/pipelines?')) respondJson(response, 200, [...pipelines.values()])
    else springError(response, 404, 'No message available')
  })
  return { ...server, pipelines }
}

type Store = (pipeline: Pipeline) => string | undefined

function postPipelines(
  request: SeenRequest,
  response: ServerResponse,
  takesList: boolean,
  store: Store,
): void {
  const body = JSON.parse(request.body) as Pipeline | Pipeline[]
  if (Array.isArray(body) !== takesList) {
    springError(response, 400, 'JSON parse error: Cannot deserialize value')
    return
  }
  const refusals = [body].flat().map(store)
  const reason = refusals.find((refusal) => refusal !== undefined)
  if (reason === undefined) respondJson(response, 200, body)
  else springError(response, 400, 'Validation Failed.', [reason])
}

function postBatch(request: SeenRequest, response: ServerResponse, store: Store): void {
  const pipelines = JSON.parse(request.body) as Pipeline[]
  const failed = pipelines.flatMap((pipeline) => {
    const errorMsg = store(pipeline)
    return errorMsg === undefined ? [] : [{ ...pipeline, errorMsg }]
  })
  respondJson(response, 200, {
    successful_pipelines_count: pipelines.length - failed.length,
    successful_pipelines: pipelines.map(({ name }) => name),
    failed_pipelines_count: failed.length,
    failed_pipelines: failed,
  })
}

function putPipeline(request: SeenRequest, response: ServerResponse, known: Map<string, Pipeline>): void {
  const pipeline = JSON.parse(request.body) as Pipeline
  const id = decodeURIComponent(request.url.slice('/pipelines/'.length))
  if (![...known.values()].some((one) => one['id'] === id)) {
    springError(response, 404, `Pipeline ${id} not found`)
  } else if (pipeline['id'] !== id) springError(response, 400, 'the ids differ')
  else {
    known.set(String(pipeline['name']), pipeline)
    respondJson(response, 200, pipeline)
  }
}

/** The error object of the orchestrator's services. */
export function springError(
  response: ServerResponse,
  status: number,
  message: string,
  errors?: string[],
): void {
  respondJson(response, status, { timestamp: 1, status, error: 'Bad Request', message, errors })
}
