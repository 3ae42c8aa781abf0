import { afterAll, beforeAll, expect, it } from 'vitest'

import { postJson } from '../support/http-client.js'
import { pipelineEvent } from '../support/orchestrator-events.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = `package runtime

import rego.v1

deny contains "closed at night" if input.stage == "Deploy"
`

/** A flat body, as the policy stage sends it. */
function stageBody(stage: string): object {
  return {
    ...{ stages: [], startTime: 1, application: 'shop', name: 'rollout', executionId: '01J' },
    ...{ trigger: { user: 'ana' }, payloadConstraint: [], stage },
  }
}

const workspace = makeWorkspace({ 'policies/runtime.rego': POLICY })
let service: TidegateProcess
beforeAll(async () => {
  service = await startTidegate({ workspace, config: { server: { fastLane: false } } })
})
afterAll(async () => {
  await service.end('SIGTERM')
  workspace.remove()
})

it.each([
  ['a denial', '/v1/data/runtime/deny', stageBody('Deploy'), 401],
  ['an allow', '/v1/data/runtime/deny', stageBody('Wait'), 200],
  ['a document', '/v1/data/runtime', { input: { stage: 'Deploy' } }, 200],
  ['an event', '/oes/echo', pipelineEvent(), 200],
])('%s is answered without the fast reader as with it', async (_, path, body, status) => {
  const answer = await postJson(service.url, path, body)
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
})
