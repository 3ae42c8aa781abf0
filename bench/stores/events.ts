import { randomUUID } from 'node:crypto'

/** The size of an event as the orchestrator's stages emit it. */
const EVENT_BYTES = 2048
const APPLICATIONS = 1000
const STAGE_NAMES = ['Deploy', 'Bake', 'Wait', 'Verify', 'Judgment', 'Scale', 'Notify']
const KINDS = ['stage:starting', 'stage:complete', 'task:starting', 'task:complete']
const STATUSES = ['SUCCEEDED', 'RUNNING', 'RUNNING', 'TERMINAL']
const EVENTS_PER_EXECUTION = 32
const FIRST_MS = 1_750_000_000_000

export function applicationOf(index: number): string {
  return `app-${index % APPLICATIONS}`
}

export function executionOf(index: number): string {
  return `01J0EXEC${String(Math.floor(index / EVENTS_PER_EXECUTION)).padStart(10, '0')}`
}

/** One of every thousand events holds this word, another in each thousand. */
export function rareWord(index: number): string {
  return `marker${Math.floor(index / 1000)}`
}

/** An event of about 2 KB, the same for the same index but for its id. */
export function makeEvent(index: number): string {
  const application = applicationOf(index)
  const executionId = executionOf(index)
  const at = FIRST_MS + index * 200
  const name = STAGE_NAMES[index % STAGE_NAMES.length] ?? ''
  const event = {
    eventId: randomUUID(),
    details: {
      source: 'orca',
      type: `orca:${KINDS[index % KINDS.length] ?? ''}`,
      created: String(at),
      application,
      requestHeaders: {},
    },
    content: {
      standalone: false,
      canceled: false,
      context: { cluster: `cluster-${index % 170}`, note: index % 1000 === 7 ? rareWord(index) : 'ordinary' },
      startTime: at,
      endTime: at + 900,
      executionId,
      stageId: 'stage-2',
      isSynthetic: false,
      name,
      execution: {
        type: 'PIPELINE',
        id: executionId,
        application,
        name: `rollout-${index % 300}`,
        status: STATUSES[index % STATUSES.length],
        authentication: { user: `person-${index % 200}`, allowedAccounts: ['staging', 'production'] },
        trigger: { type: 'manual', user: `person-${index % 200}`, parameters: {} },
        stages: [] as object[],
      },
    },
  }
  const stage = (refId: number): object => ({
    id: `stage-${refId}`,
    refId: String(refId),
    type: 'deployManifest',
    name,
    status: 'NOT_STARTED',
    requisiteStageRefIds: [String(refId - 1)],
    context: { account: 'production', moniker: { app: application } },
    outputs: {},
    tasks: [],
  })
  let size = JSON.stringify(event).length
  for (let refId = 1; size < EVENT_BYTES - 100; refId += 1) {
    const next = stage(refId)
    event.content.execution.stages.push(next)
    size += JSON.stringify(next).length + 1
  }
  return JSON.stringify(event)
}
