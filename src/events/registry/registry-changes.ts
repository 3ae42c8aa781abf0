import { isRecord } from '../../lib/validation/record.js'
import type { Definition } from '../../orchestrator/definition.js'
import { carriedValue, epochMs, scalarText } from '../carried-values.js'
import type { OrchestratorEvent } from '../orchestrator-event.js'
import type { RegistryChange } from './registry-change.js'

/** Changes of an event. */
export interface EventChanges {
  readonly changes: readonly RegistryChange[]
  /** A sentence for each change that cannot be read. The next reconciliation finds it. */
  readonly unread: readonly string[]
}

interface ChangeStage {
  readonly context: Definition
  readonly when: { readonly changedAt: number; readonly changedBy: string | undefined }
}

type StageReader = (stage: ChangeStage) => (RegistryChange | undefined)[]

const NOTHING: EventChanges = { changes: [], unread: [] }

/** By stage type or `notification.type`, in lower case. */
const READERS: ReadonlyMap<string, StageReader> = new Map([
  ['createapplication', readApplicationUpsert],
  ['updateapplication', readApplicationUpsert],
  ['upsertapplication', readApplicationUpsert],
  ['deleteapplication', readApplicationDelete],
  ['savepipeline', readPipelineSave],
  ['updatepipeline', readPipelineSave],
  ['deletepipeline', readPipelineDelete],
  ['reorderpipelines', readReorder],
])

/**
 * Returns the changes of applications and pipelines that an event reports. They have no event kind
 * of their own: they are completed stages of a finished orchestration (orca-front50 and
 * orca-applications tasks).
 */
export function registryChanges(event: OrchestratorEvent): EventChanges {
  const isEnd = event.kind === 'orca:orchestration:complete' || event.kind === 'orca:orchestration:failed'
  const execution = isEnd && isRecord(event.content) ? event.content['execution'] : undefined
  if (!isRecord(execution) || !Array.isArray(execution['stages'])) return NOTHING
  const isComplete = event.kind === 'orca:orchestration:complete'
  const read = (execution['stages'] as unknown[])
    .filter(isRecord)
    .flatMap((stage) =>
      readStage(stage, isComplete, epochMs(execution['endTime']) ?? event.occurredAt, event),
    )
  return {
    changes: read.filter((change) => typeof change === 'object'),
    unread: read.filter((change) => typeof change === 'string'),
  }
}

function readStage(
  stage: Definition,
  isComplete: boolean,
  endedAt: number,
  event: OrchestratorEvent,
): (RegistryChange | string)[] {
  const context = isRecord(stage['context']) ? stage['context'] : {}
  const type = scalarText(stage['type']) ?? ''
  const readChanges =
    READERS.get(type.toLowerCase()) ??
    READERS.get(scalarText(context['notification.type'])?.toLowerCase() ?? '')
  if (readChanges === undefined || !wasDone(stage, context, isComplete)) return []
  const changedAt = epochMs(stage['endTime']) ?? endedAt
  return readChanges({ context, when: { changedAt, changedBy: event.user } }).map(
    (change) =>
      change ?? `event ${event.eventId ?? 'without an id'}: the change of its stage ${type} cannot be read`,
  )
}

function wasDone(stage: Definition, context: Definition, isComplete: boolean): boolean {
  const { status } = stage
  return status === 'SUCCEEDED' || (status === undefined && isComplete) || hasBulkResult(context)
}

function readApplicationUpsert({ context, when }: ChangeStage): (RegistryChange | undefined)[] {
  const states = [context['newState'], context['application']].map(carriedValue)
  const state = states.find((candidate) => isRecord(candidate) && Object.keys(candidate).length > 0)
  const definition = isRecord(state) ? state : undefined
  const application = applicationName(context) ?? scalarText(definition?.['name'])
  if (definition === undefined || application === undefined) return [undefined]
  return [
    { type: 'application.upserted', application, definition: { ...definition, name: application }, ...when },
  ]
}

function readApplicationDelete({ context, when }: ChangeStage): (RegistryChange | undefined)[] {
  const application = applicationName(context)
  return [application === undefined ? undefined : { type: 'application.deleted', application, ...when }]
}

function applicationName(context: Definition): string | undefined {
  const application = carriedValue(context['application'])
  return (
    scalarText(context['application.name']) ??
    scalarText(isRecord(application) ? application['name'] : application)
  )
}

function readPipelineSave({ context, when }: ChangeStage): (RegistryChange | undefined)[] {
  return savedPipelines(context).map((saved) =>
    saved === undefined ? undefined : { type: 'pipeline.upserted', ...saved, ...when },
  )
}

function readPipelineDelete({ context, when }: ChangeStage): (RegistryChange | undefined)[] {
  const carried = carriedValue(context['pipeline'])
  const definition = isRecord(carried) ? carried : {}
  const application = scalarText(context['application']) ?? scalarText(definition['application'])
  const pipeline = scalarText(context['pipeline.name']) ?? scalarText(definition['name'])
  const pipelineId = scalarText(context['pipeline.id']) ?? scalarText(definition['id'])
  if (application === undefined || pipeline === undefined) return [undefined]
  return [{ type: 'pipeline.deleted', application, pipeline: pipeline.trim(), pipelineId, ...when }]
}

function readReorder({ context, when }: ChangeStage): (RegistryChange | undefined)[] {
  const application = scalarText(context['application'])
  if (application === undefined) return [undefined]
  const carried = [context['idsToIndices'], context['pipelines']].map(carriedValue).find(isRecord) ?? {}
  const indices = Object.entries(carried).filter((entry): entry is [string, number] =>
    Number.isInteger(entry[1]),
  )
  return [{ type: 'pipelines.reordered', application, indices: Object.fromEntries(indices), ...when }]
}

/** A pipeline that a stage saved. */
interface SavedPipeline {
  readonly application: string
  readonly pipeline: string
  readonly pipelineId: string | undefined
  readonly created: boolean
  readonly definition: Definition
}

/**
 * Returns the pipelines in the context of a savePipeline or updatePipeline stage: `pipeline`, or
 * the saved ones of `pipelines`. Undefined stands for an unreadable one.
 */
function savedPipelines(context: Definition): (SavedPipeline | undefined)[] {
  const many = carriedValue(context['pipelines'])
  if (!Array.isArray(many)) return [toSavedPipeline(carriedValue(context['pipeline']), context)]
  const failed = failedNames(context)
  const { application } = context
  return many
    .map((definition: unknown) => toSavedPipeline(definition, { application }))
    .filter((saved) => saved === undefined || !failed.has(saved.pipeline.toLowerCase()))
}

/** Whether the context has the result of a bulk save, whatever the state of the stage. */
function hasBulkResult(context: Definition): boolean {
  return isRecord(carriedValue(context['bulksave']))
}

function toSavedPipeline(value: unknown, context: Definition): SavedPipeline | undefined {
  if (!isRecord(value)) return undefined
  const pipeline = (scalarText(value['name']) ?? scalarText(context['pipeline.name']))?.trim()
  const application = scalarText(value['application']) ?? scalarText(context['application'])
  if (pipeline === undefined || application === undefined) return undefined
  const ownId = scalarText(value['id'])
  const pipelineId = ownId ?? scalarText(context['pipeline.id'])
  return {
    application,
    pipeline,
    pipelineId,
    created: ownId === undefined,
    definition: {
      ...value,
      application,
      name: pipeline,
      ...(pipelineId === undefined ? {} : { id: pipelineId }),
    },
  }
}

/** The storage service returns refused pipelines as objects (`/pipelines/batchUpdate`). */
function failedNames(context: Definition): Set<string> {
  const result = carriedValue(context['bulksave'])
  const failed = isRecord(result) ? carriedValue(result['failed_pipelines']) : []
  const names = (Array.isArray(failed) ? (failed as unknown[]) : []).map((one) =>
    scalarText(isRecord(one) ? one['name'] : one),
  )
  return new Set(names.map((name) => name?.trim().toLowerCase() ?? ''))
}
