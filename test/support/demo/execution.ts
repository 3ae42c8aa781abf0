/** A stage as a pipeline defines it. */
interface StageDefinition {
  readonly refId: string
  readonly requisiteStageRefIds: readonly string[]
  readonly type: string
  readonly name: string
  readonly account?: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface Pipeline {
  readonly application: string
  readonly name: string
  readonly id: string
  readonly stages: readonly StageDefinition[]
}

export type Status = 'NOT_STARTED' | 'RUNNING' | 'SUCCEEDED' | 'TERMINAL' | 'CANCELED'

/** A stage of a run. Its page shows `message` and `link`. */
export interface Stage {
  readonly id: string
  readonly definition: StageDefinition
  status: Status
  message: string
  link: string
  outputs: Readonly<Record<string, unknown>>
}

/** One run of a pipeline. */
export interface Execution {
  readonly id: string
  readonly pipeline: Pipeline
  /** The person who started it. */
  readonly user: string
  readonly startTime: number
  readonly stages: readonly Stage[]
  status: Status
}

/** The state of a stage while it runs and at its end. */
export interface StageReport {
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'TERMINAL'
  readonly message?: string
  readonly link?: string
  readonly outputs?: Readonly<Record<string, unknown>>
}

/** Does the work of a stage: reports while it runs, and returns how it ended. */
export type RunStage = (
  stage: Stage,
  execution: Execution,
  report: (progress: StageReport) => void,
) => Promise<StageReport>

/** An execution as the orchestrator's services send it to others. */
export function executionDocument({ id, pipeline, user, startTime, stages, status }: Execution): object {
  return {
    ...{ type: 'PIPELINE', id, application: pipeline.application, name: pipeline.name },
    ...{ pipelineConfigId: pipeline.id, status, canceled: status === 'CANCELED', startTime },
    authentication: { user, allowedAccounts: ['staging-eu', 'prod-eu'] },
    trigger: { type: 'manual', user, parameters: {}, artifacts: [] },
    stages: stages.map(stageDocument),
  }
}

/** A stage in such a document. */
export function stageDocument({ id, definition, status, outputs }: Stage): object {
  const { refId, requisiteStageRefIds, type, name, ...context } = definition
  return { id, refId, requisiteStageRefIds, type, name, status, context, outputs }
}
