import { randomUUID } from 'node:crypto'

import { startLoopbackServer } from '../loopback-server.js'
import { executionDocument, stageDocument } from './execution.js'
import type { Execution, Pipeline, RunStage, Stage, StageReport } from './execution.js'
import { orchestratorPage } from './orchestrator-page.js'
import { approvalStage, deployStage, findImageStage, policyStage, verificationStage } from './stages.js'
import { postJson } from '../http-client.js'
import { strictWalk } from '../orchestrator-client.js'
import { base64Json, changeEvent, changeStage, pipelineEvent } from '../orchestrator-events.js'
import type { EventBody } from '../orchestrator-events.js'
import { toError } from '../../../src/errors/app-error.js'

/** An attempt to save a pipeline, with the reason if it was refused. */
export interface Save {
  readonly pipeline: Pipeline
  readonly user: string
  readonly refusal: string | undefined
}

/** An orchestrator that calls the service like the plugins of the real one. */
export interface Orchestrator {
  /** URL of its page. */
  readonly url: string
  readonly save: (pipeline: Pipeline, user: string) => Promise<Save>
  /** Starts a run that finds this image. It continues in the background. */
  readonly start: (pipeline: Pipeline, image: string, user: string) => Execution
  readonly close: () => Promise<void>
}

export interface OrchestratorSettings {
  readonly tidegateUrl: string
  /** Called when a stage has deployed. */
  readonly deployed: (stageName: string) => void
  /** Called when a run breaks in a way that no stage reports. */
  readonly failed: (error: unknown) => void
  /** Ends all waiting runs. */
  readonly ended: AbortSignal
}

/** Starts it on a free port of loopback. */
export async function startOrchestrator(settings: OrchestratorSettings): Promise<Orchestrator> {
  const { tidegateUrl, ended } = settings
  const saves: Save[] = []
  const executions: Execution[] = []
  const images = new Map<string, string>()
  const server = await startLoopbackServer((_request, response) => {
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
    response.writeHead(200, headers).end(orchestratorPage(saves, executions, tidegateUrl))
  })
  const stageTypes = stageTypesOf(settings, server.origin, (id) => images.get(id) ?? '')
  return {
    url: server.origin,
    close: server.close,
    save: async (pipeline, user) => {
      const save = { pipeline, user, refusal: await refusalOf(tidegateUrl, pipeline) }
      saves.push(save)
      if (save.refusal === undefined) await sendSavedEvent(tidegateUrl, pipeline, user)
      return save
    },
    start: (pipeline, image, user) => {
      const execution = executionOf(pipeline, user)
      executions.push(execution)
      images.set(execution.id, image)
      const tell = (...event: [Execution, string, Execution['stages'][number]?]): Promise<void> =>
        sendExecutionEvent(tidegateUrl, ...event)
      runExecution(execution, { stageTypes, tell }).catch((error: unknown) => {
        if (!ended.aborted) settings.failed(error)
      })
      return execution
    },
  }
}

function stageTypesOf(
  { tidegateUrl, deployed, ended }: OrchestratorSettings,
  ownUrl: string,
  image: (executionId: string) => string,
): Readonly<Record<string, RunStage>> {
  return {
    findImageFromTags: findImageStage(image, ended),
    deployManifest: deployStage(deployed, ended),
    policy: policyStage(tidegateUrl),
    approval: approvalStage(tidegateUrl, ownUrl, ended),
    verification: verificationStage(tidegateUrl, ended),
  }
}

function executionOf(pipeline: Pipeline, user: string): Execution {
  const stages = pipeline.stages.map((definition) => ({
    ...{ id: randomUUID(), definition, message: '', link: '', outputs: {} },
    status: 'NOT_STARTED' as const,
  }))
  return { id: randomUUID(), pipeline, user, startTime: Date.now(), stages, status: 'NOT_STARTED' }
}

/**
 * The reason for refusing a save, in the words that the person reads. Undefined if it is stored
 * (orchestrator-clients.md, 1.1).
 */
export async function refusalOf(tidegateUrl: string, pipeline: Pipeline): Promise<string | undefined> {
  const { status, text } = await postJson(tidegateUrl, '/v1/staticPolicy/eval', { input: { new: pipeline } })
  if (status === 200) return undefined
  return status === 401 ? strictWalk(text, 'deny').join(', ') : text
}

/**
 * Reports the state of an execution or one of its stages, like the orchestrator's echo component.
 */
export async function sendExecutionEvent(
  tidegateUrl: string,
  execution: Execution,
  kind: string,
  stage?: Stage,
): Promise<void> {
  const document = { ...executionDocument(execution), endTime: Date.now() }
  const { content, ...event } = pipelineEvent(document, kind)
  const more =
    stage === undefined
      ? {}
      : { stageId: stage.id, name: stage.definition.name, context: stageDocument(stage) }
  await send(tidegateUrl, { ...event, content: { ...(content as object), ...more } })
}

/** Reports that a pipeline was saved. */
export async function sendSavedEvent(tidegateUrl: string, pipeline: Pipeline, user: string): Promise<void> {
  const context = {
    ...{ 'notification.type': 'savepipeline', 'pipeline.name': pipeline.name, 'pipeline.id': pipeline.id },
    ...{ application: pipeline.application, pipeline: base64Json(pipeline) },
  }
  const now = Date.now()
  const event = changeEvent([changeStage('savePipeline', context)], {
    ...{ id: randomUUID(), startTime: now - 1000, endTime: now },
    ...{ authentication: { user }, trigger: { type: 'manual', user } },
  })
  await send(tidegateUrl, event)
}

async function send(tidegateUrl: string, event: EventBody): Promise<void> {
  const details = { ...(event['details'] as object), created: String(Date.now()) }
  const answer = await postJson(tidegateUrl, '/oes/echo', { ...event, eventId: randomUUID(), details })
  if (answer.status !== 200) throw new Error(`the event was not taken: ${answer.status} ${answer.text}`)
}

/** The dependencies of an execution. */
export interface Surroundings {
  /** How stages are run, by their type. */
  readonly stageTypes: Readonly<Record<string, RunStage>>
  /**
   * Called when a stage or the execution starts or ends, with the term of the orchestrator's
   * events.
   */
  readonly tell: (execution: Execution, kind: string, stage?: Stage) => Promise<void>
}

/**
 * Runs the stages of an execution, each after those that it requires, until the last has ended or
 * one has failed.
 */
export async function runExecution(execution: Execution, surroundings: Surroundings): Promise<void> {
  const { tell } = surroundings
  execution.status = 'RUNNING'
  await tell(execution, 'orca:pipeline:starting')
  for (let stage = nextOf(execution); stage !== undefined; stage = nextOf(execution)) {
    stage.status = 'RUNNING'
    await tell(execution, 'orca:stage:starting', stage)
    const end = await runStage(stage, execution, surroundings)
    Object.assign(stage, end)
    await tell(execution, end.status === 'SUCCEEDED' ? 'orca:stage:complete' : 'orca:stage:failed', stage)
  }
  const hasFailed = execution.stages.some(({ status }) => status !== 'SUCCEEDED')
  execution.status = hasFailed ? 'TERMINAL' : 'SUCCEEDED'
  await tell(execution, hasFailed ? 'orca:pipeline:failed' : 'orca:pipeline:complete')
}

/** The next stage whose requisites have all succeeded. */
function nextOf({ stages }: Execution): Stage | undefined {
  const done = new Set(
    stages.filter(({ status }) => status === 'SUCCEEDED').map(({ definition }) => definition.refId),
  )
  return stages.find(
    ({ status, definition }) =>
      status === 'NOT_STARTED' && definition.requisiteStageRefIds.every((refId) => done.has(refId)),
  )
}

async function runStage(
  stage: Stage,
  execution: Execution,
  { stageTypes }: Surroundings,
): Promise<StageReport> {
  const run = stageTypes[stage.definition.type]
  if (run === undefined)
    return { status: 'TERMINAL', message: `no such type of stage: ${stage.definition.type}` }
  try {
    return await run(stage, execution, (progress) => Object.assign(stage, progress))
  } catch (error) {
    return { status: 'TERMINAL', message: toError(error).message }
  }
}
