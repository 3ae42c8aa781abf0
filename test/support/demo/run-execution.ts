import { toError } from '../../../src/errors/app-error.js'
import type { Execution, RunStage, Stage, StageReport } from './execution.js'

/** The dependencies of an execution. */
export interface Surroundings {
  /** How stages are run, by their type. */
  readonly stageTypes: Readonly<Record<string, RunStage>>
  /**
   * Called when a stage or the execution starts or ends, with the term of the orchestrator's
   * events.
   */
  readonly tell: (execution: Execution, kind: string, stage?: Stage) => Promise<void>
}

/**
 * Runs the stages of an execution, each after those that it requires, until the last has ended or
 * one has failed.
 */
export async function runExecution(execution: Execution, surroundings: Surroundings): Promise<void> {
  const { tell } = surroundings
  execution.status = 'RUNNING'
  await tell(execution, 'orca:pipeline:starting')
  for (let stage = nextOf(execution); stage !== undefined; stage = nextOf(execution)) {
    stage.status = 'RUNNING'
    await tell(execution, 'orca:stage:starting', stage)
    const end = await runStage(stage, execution, surroundings)
    Object.assign(stage, end)
    await tell(execution, end.status === 'SUCCEEDED' ? 'orca:stage:complete' : 'orca:stage:failed', stage)
  }
  const hasFailed = execution.stages.some(({ status }) => status !== 'SUCCEEDED')
  execution.status = hasFailed ? 'TERMINAL' : 'SUCCEEDED'
  await tell(execution, hasFailed ? 'orca:pipeline:failed' : 'orca:pipeline:complete')
}

/** The next stage whose requisites have all succeeded. */
function nextOf({ stages }: Execution): Stage | undefined {
  const done = new Set(
    stages.filter(({ status }) => status === 'SUCCEEDED').map(({ definition }) => definition.refId),
  )
  return stages.find(
    ({ status, definition }) =>
      status === 'NOT_STARTED' && definition.requisiteStageRefIds.every((refId) => done.has(refId)),
  )
}

async function runStage(
  stage: Stage,
  execution: Execution,
  { stageTypes }: Surroundings,
): Promise<StageReport> {
  const run = stageTypes[stage.definition.type]
  if (run === undefined)
    return { status: 'TERMINAL', message: `no such type of stage: ${stage.definition.type}` }
  try {
    return await run(stage, execution, (progress) => Object.assign(stage, progress))
  } catch (error) {
    return { status: 'TERMINAL', message: toError(error).message }
  }
}
