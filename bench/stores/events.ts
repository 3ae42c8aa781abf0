import { randomUUID } from 'node:crypto'

import { generatePipeline } from '../../test/support/generate-pipeline.js'

const APPLICATIONS = 1000
const STAGE_NAMES = ['Deploy', 'Bake', 'Wait', 'Verify', 'Judgment', 'Scale', 'Notify']
const KINDS = ['stage:starting', 'stage:complete', 'task:starting', 'task:complete']
const STATUSES = ['SUCCEEDED', 'RUNNING', 'RUNNING', 'TERMINAL']
const EVENTS_PER_EXECUTION = 32
const FIRST_MS = 1_750_000_000_000
/** Number that gives an event the size of one from the orchestrator's stages, 2 KB. */
const STAGES = 5

export function applicationOf(index: number): string {
  return `app-${index % APPLICATIONS}`
}

export function executionOf(index: number): string {
  return `01J0EXEC${String(Math.floor(index / EVENTS_PER_EXECUTION)).padStart(10, '0')}`
}

/** One in a thousand events contains this word, another one in a thousand the other. */
export function rareWord(index: number): string {
  return `marker${Math.floor(index / 1000)}`
}

/** An event of about 2 KB, the same for the same index except for its id. */
export function makeEvent(index: number): string {
  const [application, executionId, at] = [applicationOf(index), executionOf(index), FIRST_MS + index * 200]
  const type = `orca:${KINDS[index % KINDS.length] ?? ''}`
  const execution = {
    ...generatePipeline(STAGES),
    ...{ type: 'PIPELINE', id: executionId, application, name: `rollout-${index % 300}` },
    ...{
      status: STATUSES[index % STATUSES.length],
      trigger: { type: 'manual', user: `person-${index % 200}` },
    },
    ...{ authentication: { user: `person-${index % 200}` } },
  }
  return JSON.stringify({
    eventId: randomUUID(),
    details: { source: 'orca', type, created: String(at), application, requestHeaders: {} },
    content: {
      context: { cluster: `cluster-${index % 170}`, note: index % 1000 === 7 ? rareWord(index) : 'ordinary' },
      ...{ startTime: at, endTime: at + 900, executionId, stageId: 'stage-2', isSynthetic: false },
      ...{ name: STAGE_NAMES[index % STAGE_NAMES.length], execution },
    },
  })
}
