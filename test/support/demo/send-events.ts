import { randomUUID } from 'node:crypto'

import { postJson } from '../http-client.js'
import { base64Json, changeEvent, changeStage, pipelineEvent } from '../orchestrator-events.js'
import type { EventBody } from '../orchestrator-events.js'
import { executionDocument, stageDocument } from './execution.js'
import type { Execution, Pipeline, Stage } from './execution.js'

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
