import type { Definition } from '../../orchestrator/definition.js'

interface Change {
  /**
   * Time of the change by the orchestrator's clock, in epoch milliseconds. Determines which
   * definition is newer.
   */
  readonly changedAt: number
  readonly changedBy: string | undefined
}

export interface ApplicationUpserted extends Change {
  readonly type: 'application.upserted'
  readonly application: string
  readonly definition: Definition
}

export interface ApplicationDeleted extends Change {
  readonly type: 'application.deleted'
  readonly application: string
}

export interface PipelineUpserted extends Change {
  readonly type: 'pipeline.upserted'
  readonly application: string
  readonly pipeline: string
  /** Absent after a bulk save created the pipeline: only the storage service knows the id. */
  readonly pipelineId: string | undefined
  /** Whether the pipeline is known to be new. */
  readonly created: boolean
  readonly definition: Definition
}

export interface PipelineDeleted extends Change {
  readonly type: 'pipeline.deleted'
  readonly application: string
  readonly pipeline: string
  readonly pipelineId: string | undefined
}

export interface PipelinesReordered extends Change {
  readonly type: 'pipelines.reordered'
  readonly application: string
  /** New `index` by pipeline id; empty if the event has none. */
  readonly indices: Readonly<Record<string, number>>
}

/** A change of an application or pipeline. */
export type RegistryChange =
  ApplicationUpserted | ApplicationDeleted | PipelineUpserted | PipelineDeleted | PipelinesReordered

/** Key of an application: the storage service ignores the case of names. */
export function applicationKey(application: string): string {
  return application.toLowerCase()
}

/** Key of a pipeline: names are unique within an application, without case. */
export function pipelineKey(application: string, pipeline: string): string {
  return JSON.stringify([applicationKey(application), pipeline.trim().toLowerCase()])
}
