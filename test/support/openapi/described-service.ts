import { createHash } from 'node:crypto'
import { join } from 'node:path'

import { latencies } from '../analysis-files.js'
import { pastCanary } from '../analysis-service.js'
import { startReceiver } from '../callback-receiver.js'
import { FILE_ANALYSIS, analysisIn } from '../file-analysis.js'
import { ask, objectOf, postJson } from '../http-client.js'
import type { Answered } from '../http-client.js'
import { respondJson, startLoopbackServer } from '../loopback-server.js'
import { pipelineEvent } from '../orchestrator-events.js'
import { startTidegate } from '../tidegate-process.js'
import { formTokenIn } from '../page-service.js'
import { waitUntil } from '../wait-until.js'
import { makeWorkspace } from '../workspace.js'

/** The bearer of one token for each role. */
export const BEARERS: Readonly<Record<string, string>> = {
  orchestrator: 'orca',
  approver: 'ana',
  auditor: 'eve',
  author: 'art',
  instance: 'bob',
  admin: 'root',
}
export const WEBHOOK_TOKEN = 'token-of-gitlab'
const TOKENS = Object.entries(BEARERS).map(([role, name]) => ({
  ...{ name, roles: [role] },
  sha256: createHash('sha256').update(`token-of-${name}`).digest('hex'),
}))
const PIPELINE = { id: 'rollout-id', name: 'rollout', application: 'shop', stages: [] }
const FORGOTTEN: Readonly<Record<string, object>> = {
  LOG: { templateName: 'forgotten' },
  METRIC: { templateName: 'forgotten', data: { groups: [{ group: 'a', metrics: [{ name: 'x' }] }] } },
}

/** A service in which something of everything has happened. */
export interface DescribedService {
  readonly url: string
  readonly callbackUrl: string
  /**
   * Values of path parameters: the number of an instance, a run, a message or an audit record; the
   * id of a decision; the token of a report.
   */
  readonly ids: Readonly<
    Record<
      | 'page'
      | 'formToken'
      | 'application'
      | 'pipeline'
      | 'stage'
      | 'decision'
      | 'gate'
      | 'instance'
      | 'open'
      | 'run'
      | 'message'
      | 'record'
      | 'report'
      | 'exception'
      | 'impact',
      string
    >
  >
  readonly end: () => Promise<void>
}

/** Starts it with a token for each role, or with none. */
export async function startDescribedService(hasTokens: boolean): Promise<DescribedService> {
  const workspace = makeWorkspace({
    'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n',
    'policies/static.rego': 'package static.none\n\nimport rego.v1\n\ndeny contains "bad" if input.bad\n',
    'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
    'data/stable.csv': latencies(100),
    'data/healthy.csv': latencies(100),
    token: WEBHOOK_TOKEN,
  })
  const receiver = await startReceiver()
  workspace.write({ chat: receiver.url })
  const orchestrator = await startLoopbackServer(({ url }, response) =>
    respondJson(response, 200, url.startsWith('/v2/') ? [{ name: 'shop' }] : [PIPELINE]),
  )
  const tidegate = await startTidegate({
    workspace,
    config: {
      auth: { tokens: hasTokens ? TOKENS : [] },
      callbacks: { allowLoopback: true },
      policies: {
        ...{ writable: true, defaultDecision: '/app/allow', accessDecision: '/app/allow' },
        exceptions: { approval: true },
        publish: { name: 'main' },
        shadow: { directories: [join(workspace.path, 'policies')] },
      },
      connectors: { accounts: [{ name: 'tickets', type: 'jira', url: receiver.url }], allowLoopback: true },
      gates: {
        fromStages: true,
        definitions: [{ id: 1, name: 'Release', application: 'shop', stage: 'Release' }],
      },
      orchestrator: {
        storageUrl: orchestrator.origin,
        gateUrl: orchestrator.origin,
        webhookToken: { file: join(workspace.path, 'token') },
        githubSecret: { file: join(workspace.path, 'token') },
        bitbucketSecret: { file: join(workspace.path, 'token') },
      },
      analysis: analysisIn(workspace.path),
      notifications: {
        channels: [{ name: 'sample', type: 'slack', url: { file: join(workspace.path, 'chat') } }],
      },
    },
  })
  const { url } = tidegate
  return {
    url,
    callbackUrl: receiver.url,
    ids: await makeThingsHappen(url, receiver.url),
    end: async () => {
      await tidegate.end('SIGTERM')
      await Promise.all([receiver.close(), orchestrator.close()])
      workspace.remove()
    },
  }
}

/** The headers of the bearer of a role. */
export function asRole(role: string): Record<string, string> {
  return { authorization: `Bearer token-of-${BEARERS[role] ?? role}` }
}

/** The trigger of a gate as the contract writes it. */
export function triggerBody(callbackUrl: string, executionId: string): object {
  return {
    ...{ approvalCallbackURL: `${callbackUrl}/yes`, rejectionCallbackURL: `${callbackUrl}/no`, executionId },
    ...{ toolConnectorParameters: '', imageIds: 'shop:1', connectorType: 'JIRA' },
  }
}

/** A comparison of other policies over one input. */
export const IMPACT = {
  policies: {
    directories: [{ 'a.rego': 'package static.none\n\nimport rego.v1\n\ndeny contains "no" if input\n' }],
  },
  inputs: [{ name: 'sample', input: {} }],
}

/** An exception that ends within the limit of the configuration. */
export function exceptionBody(reason: string): object {
  return { package: 'static.none', reason, until: new Date(Date.now() + 86_400_000).toISOString() }
}

async function makeThingsHappen(url: string, callbackUrl: string): Promise<DescribedService['ids']> {
  const admin = asRole('admin')
  const get = (path: string): Promise<Answered> => ask(url, { path, headers: admin })
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> =>
    objectOf(await postJson(url, path, body, admin))
  const { decision_id: decision } = await post('/v1/data/app/allow', { input: {} })
  const { id: gate } = await post('/approvalGates', { name: 'Another', application: 'shop' })
  const { id: instance } = await post('/approvalGates/1/trigger', triggerBody(callbackUrl, 'closed'))
  const { id: page } = await post('/approvalGates/1/trigger', triggerBody(callbackUrl, 'page'))
  const { id: open } = await post('/approvalGates/1/trigger', triggerBody(callbackUrl, 'open'))
  const review = JSON.stringify({ action: 'cancel', comment: 'not now' })
  const headers = { ...admin, 'content-type': 'application/json' }
  const another = { ...admin, 'x-spinnaker-user': 'cy' }
  const { id: exception } = objectOf(await postJson(url, '/exceptions', exceptionBody('first'), another))
  const definition = JSON.stringify(FILE_ANALYSIS)
  await ask(url, { method: 'PUT', path: '/analysis/applications/other', headers, body: definition })
  await ask(url, {
    ...{ method: 'PUT', path: `/approvalGateInstances/${String(instance)}/spinnakerReview` },
    ...{ headers, body: review },
  })
  const { seq: record } = await post('/oes/echo', pipelineEvent())
  const { canaryId: run } = await post('/autopilot/api/v5/registerCanary', pastCanary('healthy'))
  const message = await waitUntil(
    async () => {
      const { messages } = objectOf(await get('/outbox?state=delivered')) as { messages: { id: number }[] }
      return messages[0]?.id
    },
    () => 'no callback was delivered',
  )
  const report = await waitUntil(
    async () => {
      const { text } = await get(`/autopilot/canaries/${String(run)}`)
      return text.includes('"complete":true')
        ? /\/analysis\/report\/\d+\/([\w-]+)"/.exec(text)?.[1]
        : undefined
    },
    () => 'the analysis does not end',
  )
  for (const type of ['METRIC', 'LOG']) {
    const named = `templateType=${type}&templateName=forgotten`
    await post(`/autopilot/api/v5/external/template?${named}`, FORGOTTEN[type])
  }
  await waitUntil(
    async () => ((await get('/pipelines/rollout-id')).status === 200 ? true : undefined),
    () => 'the registry is empty',
  )
  const { impactId: impact } = await post('/policies/impact', IMPACT)
  await waitUntil(
    async () =>
      objectOf(await get(`/policies/impact/${String(impact)}`))['state'] === 'done' ? true : undefined,
    () => 'the comparison does not end',
  )
  const named = objectOf(await get('/platformservice/v1/applications/shop/pipelines/rollout'))
  const { appId: application, pipelineId: pipeline } = named
  const form = { gateName: 'Verify', gateType: 'verification' }
  const { id: stage } = await post(`/dashboardservice/v4/pipelines/${String(pipeline)}/gates`, form)
  const formToken = formTokenIn(await get(`/ui/approvals/${String(page)}`))
  const texts = Object.entries({
    page,
    formToken,
    application,
    pipeline,
    stage,
    decision,
    gate,
    instance,
    open,
    run,
    message,
    record,
    report,
    exception,
    impact,
  })
  return Object.fromEntries(texts.map(([name, value]) => [name, String(value)])) as DescribedService['ids']
}
