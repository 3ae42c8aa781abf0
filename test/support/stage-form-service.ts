import { createHash } from 'node:crypto'

import { afterAll, beforeAll, expect } from 'vitest'

import { analysisIn, FILE_ANALYSIS } from './file-analysis.js'
import { ask, postJson } from './http-client.js'
import type { Answered } from './http-client.js'
import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { makeWorkspace } from './workspace.js'

/** The package `runtime.hours`, which denies `closed`. */
export const RUNTIME = 'package runtime.hours\n\nimport rego.v1\n\ndeny contains "closed" if input.closed\n'
const STATIC = 'package static.none\n\nimport rego.v1\n\ndeny contains "bad" if input.bad\n'
const LIBRARY = 'package lib.words\n\nimport rego.v1\n\nword := "x"\n'
const token = (name: string, roles: readonly string[], groups: readonly string[] = []) => ({
  ...{ name, roles, groups },
  sha256: createHash('sha256').update(`token-of-${name}`).digest('hex'),
})
/** The headers of the bearer of a token. */
export const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })
function configuration(folder: string) {
  return {
    auth: {
      openToOrchestrator: true,
      tokens: [token('ana', ['approver'], ['leads']), token('bo', ['approver']), token('root', ['admin'])],
    },
    callbacks: { allowLoopback: true },
    connectors: {
      accounts: [
        { name: 'tickets', type: 'jira', url: 'http://127.0.0.1:1' },
        {
          name: 'scans',
          type: 'http',
          connectorType: 'aquawave',
          url: 'http://127.0.0.1:1/images/{imageId}',
        },
      ],
    },
    gates: {
      fromStages: true,
      environments: ['Prod', 'staging'],
      definitions: [{ id: 7, name: 'Declared', application: 'shop' }],
      runtimePolicies: [{ application: 'shop', stage: 'Ruled', policy: 'runtime/hours' }],
    },
    analysis: analysisIn(folder),
  }
}

/**
 * Headers of all requests of the stages. `Origin` names the plugin, not a page (clients, 1.7 B).
 */
const STAGE_HEADERS = {
  'content-type': 'application/json',
  'x-spinnaker-user': 'cy',
  origin: 'OpsMxApprovalStagePlugin',
}

/** The application and pipeline of a stage. */
export interface Numbers {
  readonly appId: number
  readonly pipelineId: number
  readonly isCustomGateFound: boolean
}

/** The form data of a stage, in the terms of its model. */
export function formOf(numbers: Numbers, gateName: string, gateType: string, more: object = {}) {
  return {
    ...{ applicationId: String(numbers.appId), pipelineId: numbers.pipelineId, id: null },
    ...{ gateName, gateType, environmentId: 3, logTemplateName: null, metricTemplateName: null },
    ...{ dependsOn: ['1'], nextStage: null, refId: '2', approvalGateId: null, policyId: null },
    ...{ policyName: null, payloadConstraint: [{ region: 'eu' }], isAutomatedApproval: false },
    ...{ approvalGatePolicies: [], ...more },
  }
}

/**
 * The built program with policies, accounts and analyses to choose from, open to the orchestrator.
 * It is called like the editors of stages and the stages themselves do, without a token (deck
 * routes, 2 and 3).
 */
export function useStageFormService() {
  const workspace = makeWorkspace({
    'policies/hours.rego': RUNTIME,
    'policies/static.rego': STATIC,
    'policies/lib.rego': LIBRARY,
    'definitions/shop.json': JSON.stringify({
      ...FILE_ANALYSIS,
      metrics: { source: 'files', template: 'missing' },
    }),
    'data/stable.csv': 'time,latency\n2026-01-01T00:00:00Z,1\n',
    'data/healthy.csv': 'time,latency\n2026-01-01T00:00:00Z,1\n',
  })
  let tidegate: TidegateProcess
  beforeAll(async () => {
    tidegate = await startTidegate({ workspace, config: configuration(workspace.path) })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
  const url = (): string => tidegate.url
  return { url, ...makeRequests(url) }
}

function makeRequests(url: () => string) {
  const get = async (path: string): Promise<unknown> => {
    const answer = await ask(url(), { path })
    expect([answer.status, answer.headers['content-type'], answer.text]).toMatchObject([
      200,
      'application/json; charset=utf-8',
      answer.text,
    ])
    return JSON.parse(answer.text)
  }
  const send = (method: string, path: string, value: unknown, headers = {}): Promise<Answered> =>
    ask(url(), {
      ...{ method, path, body: JSON.stringify(value) },
      headers: { ...STAGE_HEADERS, ...headers },
    })

  /** Sends the event that a pipeline was saved. */
  const savePipeline = async (name: string): Promise<void> => {
    const pipeline = { name, application: 'shop', stages: [{ type: 'wait', name: `at ${Date.now()}` }] }
    const stage = {
      ...{ id: '1', refId: '0', type: 'savePipeline', name: 'savePipeline', status: 'SUCCEEDED' },
      context: {
        'notification.type': 'savepipeline',
        'pipeline.name': name,
        'pipeline.id': `${name}-id`,
        application: 'shop',
        pipeline: Buffer.from(JSON.stringify(pipeline)).toString('base64'),
      },
    }
    const execution = {
      ...{ type: 'ORCHESTRATION', id: `save-${Date.now()}`, application: 'shop', status: 'SUCCEEDED' },
      stages: [stage],
    }
    const details = { source: 'orca', type: 'orca:orchestration:complete', created: String(Date.now()) }
    const event = { eventId: `${name}-${Date.now()}`, details, content: { execution } }
    expect((await postJson(url(), '/oes/echo/', event)).status).toBe(200)
  }
  /** Step A of a stage: by names, which are not encoded. */
  const stepA = async (pipeline: string, stage: string, type: string): Promise<Numbers> => {
    const query = `gateSearch=true&refId=2&gateName=${stage}&gateType=${type}`
    return (await get(`/platformservice/v1/applications/shop/pipelines/${pipeline}?${query}`)) as Numbers
  }

  /** Step C: where the stage is sent. */
  const stepC = (pipeline: string, stage: string, type: string): Promise<Answered> =>
    ask(url(), {
      path: `/platformservice/v6/applications/shop/pipeline/${pipeline}/reference/2/gates/${stage}?type=${type}`,
    })
  return { get, send, savePipeline, stepA, stepC }
}
