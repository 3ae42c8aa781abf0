import { isRecord } from '../lib/validation/record.js'
import type { EventStage, OrchestratorEvent } from './orchestrator-event.js'
import { scalarText } from './carried-values.js'

type JsonObject = Record<string, unknown>
type EventColumns = Pick<
  OrchestratorEvent,
  'application' | 'pipeline' | 'pipelineConfigId' | 'executionId' | 'stage' | 'user' | 'status'
>

const NOTHING: JsonObject = {}
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What the last word of a kind says of a stage whose execution is not sent along (echo.events.includeFullExecution=false). */
const STATUS_OF_ENDING: ReadonlyMap<string, string> = new Map([
  ['starting', 'RUNNING'],
  ['complete', 'SUCCEEDED'],
  ['failed', 'TERMINAL'],
  ['skipped', 'SKIPPED'],
])

/** What can be searched by, from the orchestrator's content and details (orca-echo's execution and stage listeners). */
export function eventColumns(kind: string | undefined, content: unknown, details: unknown): EventColumns {
  const body = asRecord(content)
  const execution = asRecord(body['execution'])
  const stage = readStage(kind, body, execution)
  // What starts a pipeline by hand names it by its name or its id (Echo's ManualEvent).
  const started = scalarText(body['pipelineNameOrId'])
  const isId = UUID.test(started ?? '')
  return {
    application:
      scalarText(asRecord(details)['application']) ??
      scalarText(execution['application']) ??
      scalarText(body['application']),
    pipeline:
      execution['type'] === 'ORCHESTRATION'
        ? undefined
        : (scalarText(execution['name']) ?? (isId ? undefined : started)),
    pipelineConfigId: scalarText(execution['pipelineConfigId']) ?? (isId ? started : undefined),
    executionId: scalarText(body['executionId']) ?? scalarText(execution['id']),
    stage: stage?.columns,
    user: readUser(body, execution),
    status: stage === undefined ? scalarText(execution['status']) : stage.status,
  }
}

function readUser(body: JsonObject, execution: JsonObject): string | undefined {
  return (
    scalarText(asRecord(execution['authentication'])['user']) ??
    scalarText(asRecord(execution['trigger'])['user']) ??
    scalarText(asRecord(body['trigger'])['user']) ??
    scalarText(asRecord(body['context'])['user']) ??
    scalarText(body['user'])
  )
}

function readStage(
  kind: string | undefined,
  body: JsonObject,
  execution: JsonObject,
): { columns: EventStage; status: string | undefined } | undefined {
  const stageId = scalarText(body['stageId'])
  if (stageId === undefined) return undefined
  const stages = Array.isArray(execution['stages']) ? (execution['stages'] as unknown[]) : []
  const stage = asRecord(stages.find((candidate) => asRecord(candidate)['id'] === stageId))
  const columns = {
    stageId,
    refId: scalarText(stage['refId']),
    name: scalarText(stage['name']) ?? scalarText(body['name']),
    type: scalarText(stage['type']),
  }
  return {
    columns,
    status: scalarText(stage['status']) ?? STATUS_OF_ENDING.get(kind?.split(':').at(-1) ?? ''),
  }
}

function asRecord(value: unknown): JsonObject {
  return isRecord(value) ? value : NOTHING
}
