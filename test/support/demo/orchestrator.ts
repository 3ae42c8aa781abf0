import { randomUUID } from 'node:crypto'

import { startLoopbackServer } from '../loopback-server.js'
import type { Execution, Pipeline, RunStage } from './execution.js'
import { orchestratorPage } from './orchestrator-page.js'
import { runExecution } from './run-execution.js'
import { refusalOf } from './save-pipeline.js'
import { sendExecutionEvent, sendSavedEvent } from './send-events.js'
import { approvalStage } from './stages/approval-stage.js'
import { deployStage, findImageStage } from './stages/cloud-stages.js'
import { policyStage } from './stages/policy-stage.js'
import { verificationStage } from './stages/verification-stage.js'

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
