import { isRecord } from '../lib/validation/record.js'
import type { OrchestratorEvent } from './orchestrator-event.js'
import { epochMs } from './carried-values.js'

/** A run of a pipeline that has ended. */
export interface PipelineRun {
  readonly executionId: string
  readonly application: string
  /** The pipeline's name; its runs are compared with each other. */
  readonly pipeline: string
  readonly outcome: 'succeeded' | 'failed' | 'canceled'
  /** Whether a stage that changes what is deployed was carried out, or tried. */
  readonly deploys: boolean
  /** When it was triggered, in milliseconds. */
  readonly triggeredAt: number
  readonly endedAt: number
}

/** Types of stages that change what is deployed (orca's Kubernetes, server group and managed service stages). */
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

/** The run whose end an event tells of (`orca:pipeline:complete` or `failed`), or undefined. */
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
