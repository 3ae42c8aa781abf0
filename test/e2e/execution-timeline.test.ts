import { afterAll, beforeAll, expect, it } from 'vitest'
import { FILE_ANALYSIS } from '../support/file-analysis.js'
import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { stageBody } from '../support/canary-bodies.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const EXECUTION_ID = '01J0TIMELINE'
const POLICIES = `package runtime

import rego.v1

window := {"deny": ["closed at night"]}

review := {"deny": []}
`

const workspace = makeWorkspace({
  'policies/runtime.rego': POLICIES,
  'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
})
let receiver: CallbackReceiver
let service: TidegateProcess

beforeAll(async () => {
  receiver = await startReceiver()
  service = await startTidegate({
    workspace,
    config: {
      decisions: { maxInputBytes: 64 },
      callbacks: { allowLoopback: true },
      analysis: {
        sources: [{ name: 'files', type: 'file', directory: workspace.path }],
        definitions: `${workspace.path}/definitions`,
      },
      gates: { definitions: [{ id: 9, name: 'Review', application: 'shop', policy: 'runtime/review' }] },
    },
  })
})

afterAll(async () => {
  await service.end('SIGTERM')
  await receiver.close()
  workspace.remove()
})

const post = (path: string, body: unknown): Promise<Answered> => postJson(service.url, path, body)

async function get(path: string): Promise<Record<string, unknown>> {
  const answer = await ask(service.url, { path })
  expect(answer.status, answer.text).toBe(200)
  return objectOf(answer)
}

function startingEvent(): object {
  const execution = { type: 'PIPELINE', id: EXECUTION_ID, application: 'shop', name: 'rollout' }
  const created = String(Date.now())
  const details = { source: 'orca', application: 'shop', created, type: 'orca:pipeline:starting' }
  return { eventId: 'timeline', details: { ...details, requestHeaders: {} }, content: { execution } }
}

/** The body of the policy stage: far longer than the logged part, with the id at its end. */
function policyStageBody(): object {
  return {
    stages: Array.from({ length: 400 }, (_, n) => ({ refId: String(n), context: { executionId: 'inner' } })),
    ...{ startTime: Date.now(), application: 'shop', name: 'rollout', stage: 'Policy' },
    ...{ executionId: EXECUTION_ID, trigger: { user: 'ana' }, payloadConstraint: [] },
  }
}

function triggerBody(): object {
  const callback = `${receiver.url}/callback`
  return {
    ...{ approvalCallbackURL: callback, rejectionCallbackURL: callback, executionId: EXECUTION_ID },
    ...{ toolConnectorParameters: [], customConnectorData: [], payloadConstraint: [] },
  }
}

/** The timeline once it has this many entries, each decision with its record. */
function timeline(length: number): Promise<Record<string, unknown>[]> {
  return waitUntil(
    async () => {
      const { entries } = await get(`/executions/${EXECUTION_ID}/timeline`)
      const all = entries as Record<string, unknown>[]
      const isWhole = all.length === length && all.every(({ auditSeq }) => auditSeq !== undefined)
      return isWhole ? all : undefined
    },
    () => `the timeline is not complete: ${service.logText()}`,
  )
}

it('an execution has one story of its event, its analysis, its decisions and its approval', async () => {
  expect((await post('/oes/echo', startingEvent())).status).toBe(200)
  const canaryDeployments = [{ canaryStartTimeMs: Date.now(), canary: { metric: { shop: {} } } }]
  const registration = stageBody({ executionId: EXECUTION_ID, canaryDeployments })
  const registered = await post('/autopilot/api/v5/registerCanary', registration)
  const denied = await post('/v1/data/runtime/window/deny', policyStageBody())
  expect([denied.status, objectOf(denied)['deny']]).toEqual([401, ['closed at night']])
  const triggered = await post('/visibilityservice/v5/approvalGates/9/trigger', triggerBody())
  expect([registered.status, triggered.status], registered.text + triggered.text).toEqual([202, 202])

  const entries = await timeline(7)
  expect(entries.map(({ source, kind, path, status }) => [source, kind, path ?? status])).toEqual([
    ['event', 'orca:pipeline:starting', undefined],
    ['analysis', 'analysis.started', undefined],
    ['policy', 'policy.decision', 'runtime/window/deny'],
    ['gate', 'gate.activated', 'activated'],
    ['policy', 'policy.decision', 'runtime/review'],
    ['gate', 'gate.approved', 'approved'],
    ['gate', 'gate.callback.delivered', 'delivered'],
  ])
  const ats = entries.map(({ at }) => String(at))
  expect(ats).toEqual([...ats].sort())

  const { records } = await get(`/audit?source=policy&executionId=${EXECUTION_ID}&status=deny`)
  const [record] = records as { seq: number }[]
  expect(objectOf(await ask(service.url, { path: `/audit/${record?.seq}` }))['body']).toMatchObject({
    path: 'runtime/window/deny',
    result: ['closed at night'],
  })
  const { decisions } = await get(`/decisions?executionId=${EXECUTION_ID}`)
  expect(decisions).toHaveLength(2)
  expect(await get('/audit/verify')).toMatchObject({ isIntact: true })
})

it('decisions of an execution that nothing else names are its story', async () => {
  await post('/v1/data/runtime/window', { input: { pipeline: { type: 'PIPELINE', id: 'alone' } } })
  const { entries, isTruncated } = await get('/executions/alone/timeline')
  expect([isTruncated, entries]).toMatchObject([false, [{ kind: 'policy.decision', status: 'defined' }]])
})
