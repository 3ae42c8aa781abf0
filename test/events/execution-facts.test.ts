import { expect, test } from 'vitest'

import { changedFacts, readExecutionFacts } from '../../src/events/execution-facts.js'
import type { ExecutionFacts } from '../../src/events/execution-facts.js'
import type { AuditReader } from '../../src/store/ports/audit-store.js'
import type { Readers } from '../../src/store/ports/readers.js'
import { pipelineEvent, pipelineExecution } from '../support/orchestrator-events.js'

/** Reads the facts from events with these bodies. */
function factsFrom(...bodies: readonly unknown[]): Promise<ExecutionFacts | undefined> {
  const audit: Pick<AuditReader, 'page' | 'bodies'> = {
    page: () => Promise.resolve(bodies.map((_, seq) => ({ seq })) as never),
    bodies: ([seq = 0]) => Promise.resolve([Buffer.from(JSON.stringify(bodies[seq]))]),
  }
  return Promise.resolve(readExecutionFacts.apply({ audit } as Readers, '01J0RUN'))
}

test('the first readable event says what an execution is about', async () => {
  const artifacts = [
    { type: 'docker/image', name: 'shop', version: '1.5', reference: 'registry.example.org/shop:1.5' },
    { reference: 'registry.example.org/cart@sha256:0a1b' },
    { type: 'nameless' },
  ]
  const resolvedExpectedArtifacts = [{ boundArtifact: { name: 'chart', version: '2' } }, {}]
  const trigger = { type: 'docker', artifacts, resolvedExpectedArtifacts, parameters: { a: 1, b: [2] } }
  const event = pipelineEvent(pipelineExecution({ trigger }))
  expect(await factsFrom({ content: 'text', details: {} }, event)).toEqual({
    ...{ pipeline: 'prod-rollout', triggerType: 'docker', triggeredBy: 'ana' },
    committers: [],
    artifacts: [
      { name: 'shop', version: '1.5', type: 'docker/image' },
      { name: 'registry.example.org/cart@sha256:0a1b', version: 'sha256:0a1b', type: undefined },
      { name: 'chart', version: '2', type: undefined },
    ],
    parameters: { a: '1', b: '[2]' },
  })
})

test('without a readable event nothing is said', async () => {
  expect(await factsFrom()).toBeUndefined()
  expect(await factsFrom({ content: 'text', details: {} }, 'no event')).toBeUndefined()
})

test('changed, new and removed artifacts and parameters differ', () => {
  const facts = (versions: Record<string, string>, parameters: Record<string, string>): ExecutionFacts => ({
    ...{ pipeline: undefined, triggerType: undefined, triggeredBy: undefined, committers: [], parameters },
    artifacts: Object.entries(versions).map(([name, version]) => ({ name, version, type: undefined })),
  })
  const before = facts({ same: '1', changed: '1', gone: '1' }, { colour: 'blue' })
  const after = facts({ same: '1', changed: '2', added: '1' }, { colour: 'green' })
  expect(changedFacts(before, after)).toEqual([
    { name: 'changed', before: '1', after: '2' },
    { name: 'gone', before: '1', after: undefined },
    { name: 'added', before: undefined, after: '1' },
    { name: 'parameter colour', before: 'blue', after: 'green' },
  ])
})
