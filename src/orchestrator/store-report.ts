import type { Definition } from './definition.js'
import type { StoreMode } from './settings.js'

/** A pipeline that was not stored, and why. */
export interface StoreFailure {
  readonly application: string
  readonly pipeline: string
  readonly reason: string
}

/** Result of storing pipelines. Each is counted or named once. */
export interface StoreReport {
  /** The way of writing that worked (`update` means one by one, by id); undefined if none did. */
  readonly mode: StoreMode | 'update' | undefined
  readonly stored: number
  readonly failures: readonly StoreFailure[]
}

/** Name of a pipeline for messages. */
export function pipelineName({ name }: Definition): string {
  return typeof name === 'string' ? name.trim() : '(without a name)'
}

/** The orchestrator's id of a pipeline; undefined before it is stored. */
export function pipelineId({ id }: Definition): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Makes the failure of one pipeline. */
export function failureOf(pipeline: Definition, reason: string): StoreFailure {
  const { application } = pipeline
  return {
    application: typeof application === 'string' ? application : '(without an application)',
    pipeline: pipelineName(pipeline),
    reason,
  }
}
