import { isRecord } from '../lib/validation/record.js'
import type { OrchestratorEvent } from './orchestrator-event.js'
import { epochMs } from './carried-values.js'

/** A finished run of a pipeline. */
export interface PipelineRun {
  readonly executionId: string
  readonly application: string
  /** Name of the pipeline. Runs are compared by it. */
  readonly pipeline: string
  readonly outcome: 'succeeded' | 'failed' | 'canceled'
  /** Whether a deploying stage was run or attempted. */
  readonly deploys: boolean
  /** Time of the trigger, in epoch milliseconds. */
  readonly triggeredAt: number
  readonly endedAt: number
}

/** Types of deploying stages (orca's Kubernetes, server group and managed service stages). */
const DEPLOYING_STAGES: ReadonlySet<string> = new Set([
  'deploy',
  'deployManifest',
  'patchManifest',
  'rollingRestartManifest',
  'cloneServerGroup',
  'createServerGroup',
  'deployCloudFormation',
  'deployService',
  'runJobManifest',
  'scaleManifest',
  'updateLambda',
])
const NOT_TRIED: ReadonlySet<unknown> = new Set(['NOT_STARTED', 'SKIPPED', 'BUFFERED'])

const OUTCOMES: ReadonlyMap<string, PipelineRun['outcome']> = new Map([
  ['SUCCEEDED', 'succeeded'],
  ['TERMINAL', 'failed'],
  ['STOPPED', 'failed'],
  ['FAILED_CONTINUE', 'failed'],
  ['CANCELED', 'canceled'],
])

/**
 * Returns the run whose end an event reports (`orca:pipeline:complete` or `failed`); undefined for
 * any other event.
 */
export function readPipelineRun(event: OrchestratorEvent): PipelineRun | undefined {
  const { kind, executionId, application, pipeline, status, content } = event
  if (kind !== 'orca:pipeline:complete' && kind !== 'orca:pipeline:failed') return undefined
  const execution = isRecord(content) ? content['execution'] : undefined
  if (executionId === undefined || application === undefined || pipeline === undefined) return undefined
  if (!isRecord(execution)) return undefined
  const outcome = OUTCOMES.get(status ?? '') ?? (kind === 'orca:pipeline:complete' ? 'succeeded' : 'failed')
  const endedAt = epochMs(execution['endTime']) ?? event.occurredAt
  const triggeredAt = epochMs(execution['buildTime']) ?? epochMs(execution['startTime']) ?? endedAt
  return {
    executionId,
    application,
    pipeline,
    outcome,
    deploys: stagesOf(execution).some(isDeployment),
    triggeredAt: Math.min(triggeredAt, endedAt),
    endedAt,
  }
}

function stagesOf(execution: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const { stages } = execution
  return Array.isArray(stages) ? (stages as unknown[]).filter(isRecord) : []
}

function isDeployment({ type, status }: Readonly<Record<string, unknown>>): boolean {
  return typeof type === 'string' && DEPLOYING_STAGES.has(type) && !NOT_TRIED.has(status)
}
