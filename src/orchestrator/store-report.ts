import type { Definition } from './definition.js'
import type { StoreMode } from './settings.js'

/** A pipeline that was not stored, and why. */
export interface StoreFailure {
  readonly application: string
  readonly pipeline: string
  readonly reason: string
}

/** What became of the pipelines that were to be stored: each is counted or named once. */
export interface StoreReport {
  /** How the storage service took them, `update` being one after the other by their ids; undefined where it took none. */
  readonly mode: StoreMode | 'update' | undefined
  readonly stored: number
  readonly failures: readonly StoreFailure[]
}

/** The name of a pipeline as its definition has it, for people. */
export function pipelineName({ name }: Definition): string {
  return typeof name === 'string' ? name.trim() : '(without a name)'
}

/** The orchestrator's id of a pipeline, which one that was never stored has not. */
export function pipelineId({ id }: Definition): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** One pipeline's failure. */
export function failureOf(pipeline: Definition, reason: string): StoreFailure {
  const { application } = pipeline
  return {
    application: typeof application === 'string' ? application : '(without an application)',
    pipeline: pipelineName(pipeline),
    reason,
  }
}
