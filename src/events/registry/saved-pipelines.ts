import { isRecord } from '../../lib/validation/record.js'
import { carriedValue, scalarText } from '../carried-values.js'
import type { Definition } from '../../orchestrator/definition.js'

/** A pipeline that a stage saved. */
export interface SavedPipeline {
  readonly application: string
  readonly pipeline: string
  readonly pipelineId: string | undefined
  readonly created: boolean
  readonly definition: Definition
}

/**
 * The pipelines in the context of a savePipeline or updatePipeline stage: `pipeline`, or `pipelines` of a bulk save without
 * those that failed. Undefined stands for one that cannot be read.
 */
export function savedPipelines(context: Definition): (SavedPipeline | undefined)[] {
  const many = carriedValue(context['pipelines'])
  if (!Array.isArray(many)) return [toSavedPipeline(carriedValue(context['pipeline']), context)]
  const failed = failedNames(context)
  const { application } = context
  return many
    .map((definition: unknown) => toSavedPipeline(definition, { application }))
    .filter((saved) => saved === undefined || !failed.has(saved.pipeline.toLowerCase()))
}

/** Whether a context tells which pipelines of a bulk save failed, whatever became of the stage. */
export function hasBulkResult(context: Definition): boolean {
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

/** The storage service names those that it refused as objects (`/pipelines/batchUpdate`). */
function failedNames(context: Definition): Set<string> {
  const result = carriedValue(context['bulksave'])
  const failed = isRecord(result) ? carriedValue(result['failed_pipelines']) : []
  const names = (Array.isArray(failed) ? (failed as unknown[]) : []).map((one) =>
    scalarText(isRecord(one) ? one['name'] : one),
  )
  return new Set(names.map((name) => name?.trim().toLowerCase() ?? ''))
}
