import { expect, it } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { readPipelineRun } from '../../src/events/pipeline-run.js'
import { readEvent } from '../../src/events/read-event.js'
import { redactSecrets } from '../../src/lib/redaction/redact.js'
import { registryChanges } from '../../src/events/registry/registry-changes.js'
import { base64Json, changeEvent, changeStage, flattened } from '../support/orchestrator-events.js'
import { mutate, seededRandom } from '../support/random-bytes.js'

const EVENT = changeEvent([
  changeStage('savePipeline', { application: 'shop', pipeline: base64Json({ name: 'p', token: 'hunter2' }) }),
  changeStage('upsertApplication', { application: { name: 'shop' }, token: 'hunter2' }),
])
const BODIES = [EVENT, flattened(EVENT), { eventName: 'e', payload: EVENT }].map((body) =>
  Buffer.from(JSON.stringify(body)),
)

function processEvent(body: Buffer): Buffer | undefined {
  try {
    const event = readEvent(body, 'echo', 1)
    registryChanges(event)
    readPipelineRun(event)
    return redactSecrets(event.body).text
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return undefined
    throw error
  }
}

it('a damaged event is refused as invalid, or is kept as JSON', () => {
  const random = seededRandom(11)
  let kept = 0
  for (let round = 0; round < 6000; round++) {
    const body = mutate(BODIES[round % BODIES.length] ?? Buffer.alloc(0), random)
    const text = processEvent(body)
    if (text === undefined) continue
    kept++
    expect(() => void JSON.parse(text.toString()), body.toString()).not.toThrow()
  }
  expect(kept).toBeGreaterThan(100)
})

it('a whole event is kept without its secrets', () => {
  for (const body of BODIES) {
    const text = processEvent(body)?.toString() ?? ''
    expect(text).toContain('[redacted]')
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain(Buffer.from('hunter2').toString('base64').slice(0, 8))
  }
})
