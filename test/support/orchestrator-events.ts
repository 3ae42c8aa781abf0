/**
 * Events as the orchestrator emits them (its echo component, REST endpoints), for tests to vary.
 */
export type EventBody = Record<string, unknown>

interface ExecutionOptions {
  readonly stages?: readonly unknown[]
  readonly status?: string
  readonly [member: string]: unknown
}

/** A pipeline run. */
export function pipelineExecution(options: ExecutionOptions = {}): EventBody {
  return {
    type: 'PIPELINE',
    id: '01J0RUN',
    application: 'shop',
    name: 'prod-rollout',
    pipelineConfigId: '7c1e0c5e',
    status: 'TERMINAL',
    canceled: false,
    startTime: 1_718_000_100_000,
    endTime: 1_718_000_899_000,
    authentication: { user: 'ana', allowedAccounts: ['staging-account'] },
    trigger: { type: 'manual', user: 'ana', parameters: {}, artifacts: [] },
    stages: [
      {
        id: '01J0S1',
        refId: '1',
        type: 'policy',
        name: 'Policy',
        status: 'TERMINAL',
        context: {},
        outputs: {},
      },
    ],
    ...options,
  }
}

/** The end of a pipeline run, as sent plain. */
export function pipelineEvent(execution = pipelineExecution(), kind = 'orca:pipeline:failed'): EventBody {
  return {
    eventId: '0b6c8a52-2f0e-4a0b-8a55-b3a0f3b0b7de',
    details: {
      source: 'orca',
      type: kind,
      created: '1718000900000',
      application: 'shop',
      requestHeaders: {},
    },
    content: { executionId: execution['id'], execution },
  }
}

/** The end of an orchestration whose stages changed applications or pipelines. */
export function changeEvent(stages: readonly unknown[], execution: EventBody = {}): EventBody {
  return pipelineEvent(
    {
      type: 'ORCHESTRATION',
      id: '01J0SAVE',
      application: 'shop',
      status: 'SUCCEEDED',
      startTime: 1_718_000_003_000,
      endTime: 1_718_000_004_900,
      authentication: { user: 'ana' },
      trigger: { type: 'manual', user: 'ana' },
      stages,
      ...execution,
    },
    'orca:orchestration:complete',
  )
}

/** A stage of such an orchestration. */
export function changeStage(type: string, context: EventBody, members: EventBody = {}): EventBody {
  return { id: '01J0ST', refId: '0', type, name: type, status: 'SUCCEEDED', context, outputs: {}, ...members }
}

/** The JSON of a value in Base64, as the orchestrator carries pipelines. */
export function base64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** The event as an endpoint with `flatten: true` gets it. */
export function flattened(event: EventBody): EventBody {
  return {
    ...event,
    details: JSON.stringify(event['details']),
    content: JSON.stringify(event['content'], null, 2),
  }
}
