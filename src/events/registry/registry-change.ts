import type { Definition } from '../../orchestrator/definition.js'

interface Change {
  /** When the orchestrator made it, by its clock, in milliseconds since 1970: what a newer definition is told by. */
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
  /** Absent in what a bulk save created: the storage service knows it. */
  readonly pipelineId: string | undefined
  /** Whether it is known to be new. */
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
  /** The new `index` of pipelines by their id; empty where the event does not say. */
  readonly indices: Readonly<Record<string, number>>
}

/** What became of an application or a pipeline. */
export type RegistryChange =
  ApplicationUpserted | ApplicationDeleted | PipelineUpserted | PipelineDeleted | PipelinesReordered

/** What applications are told apart by: the storage service ignores the case of their names. */
export function applicationKey(application: string): string {
  return application.toLowerCase()
}

/** What a pipeline without an id is told by: names are unique in an application, whatever their case. */
export function pipelineKey(application: string, pipeline: string): string {
  return JSON.stringify([applicationKey(application), pipeline.trim().toLowerCase()])
}
