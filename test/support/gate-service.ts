import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, expect } from 'vitest'

import { startReceiver } from './callback-receiver.js'
import type { CallbackReceiver } from './callback-receiver.js'
import { ask, objectOf, postJson } from './http-client.js'
import type { Answered } from './http-client.js'
import { startTidegate } from './tidegate-process.js'
import { makeWorkspace } from './workspace.js'
import type { TidegateProcess } from './tidegate-process.js'

export const PUBLIC_URL = 'https://tidegate.example.org/base'

const POLICY = `package release.approval

import rego.v1

deny contains sprintf("%s is %s", [ticket.jiraId, ticket.status]) if {
  some ticket in input.JIRA.output
  ticket.status != "Done"
}
`
const DEFINITIONS = [
  {
    id: 7,
    name: 'Release',
    application: 'shop',
    approvals: 2,
    approvers: { users: ['bo'], groups: ['leads'] },
  },
  { id: 8, name: 'Automatic', application: 'shop', policy: 'release/approval', connectors: ['JIRA'] },
]
const TOKENS = [
  token('orca', ['orchestrator']),
  token('ana', ['approver'], ['leads']),
  token('bo', ['approver']),
  token('cy', ['approver'], ['leads']),
  token('eve', ['auditor']),
  token('root', ['admin']),
]

function token(name: string, roles: readonly string[], groups: readonly string[] = []) {
  const sha256 = createHash('sha256').update(`token-of-${name}`).digest('hex')
  return { name, roles, groups, sha256 }
}

/** The headers of the bearer of a token. */
export function as(name: string): Record<string, string> {
  return { authorization: `Bearer token-of-${name}` }
}

/**
 * The built program with gates 7 (two approvals) and 8 (by policy), a receiver of callbacks and a
 * tracker with tickets.
 */
export function useGateService() {
  const workspace = makeWorkspace()
  const tracker = makeTracker()
  let receiver: CallbackReceiver
  let tidegate: TidegateProcess
  beforeAll(async () => {
    receiver = await startReceiver()
    await new Promise<void>((resolve) => tracker.listen(0, '127.0.0.1', resolve))
    const trackerUrl = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`
    workspace.write({ 'policies/approval.rego': POLICY })
    tidegate = await startTidegate({
      workspace,
      config: {
        server: { publicUrl: `${PUBLIC_URL}/` },
        auth: { tokens: TOKENS },
        callbacks: { allowLoopback: true },
        connectors: { accounts: [{ name: 'tickets', type: 'jira', url: trackerUrl }], allowLoopback: true },
        gates: {
          definitions: DEFINITIONS,
          runtimePolicies: [{ application: 'shop', stage: 'Check it', policy: 'release/approval' }],
        },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    await receiver.close()
    tracker.close()
    workspace.remove()
  })
  const requests = makeRequests(
    () => tidegate.url,
    () => receiver.url,
  )
  return {
    ...requests,
    callbacks: () => receiver.received,
    url: () => tidegate.url,
    log: () => tidegate.logText(),
  }
}

/** A tracker in which OPS-1 is done and everything else is not. */
function makeTracker(): Server {
  return createServer((request, response) => {
    const key = /issue\/([^?]+)/.exec(request.url ?? '')?.[1] ?? ''
    const fields = { status: { name: key === 'OPS-1' ? 'Done' : 'In Progress' }, priority: { name: 'High' } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ key, fields }))
  })
}

function makeRequests(url: () => string, receiverUrl: () => string) {
  const callbackUrls = () => ({
    approvalCallbackURL: `${receiverUrl()}/yes`,
    rejectionCallbackURL: `${receiverUrl()}/no`,
  })
  /** The body as the contract writes it. */
  const contractBody = (executionId: string) => ({
    ...callbackUrls(),
    executionId,
    toolConnectorParameters: '',
    imageIds: 'shop:1',
    connectorType: 'JIRA',
  })
  /** The body as the plugins send it. */
  const pluginBody = (executionId: string, tickets: readonly string[] = []) => ({
    ...callbackUrls(),
    executionId,
    toolConnectorParameters:
      tickets.length === 0 ? [] : [{ connectorType: 'JIRA', parameters: [{ jira_ticket_no: tickets }] }],
    customConnectorData: [],
    payloadConstraint: [{ region: 'eu' }],
  })
  const get = (path: string, name = 'orca') => ask(url(), { path, headers: as(name) })
  const post = (path: string, value: unknown, headers = as('orca')) => postJson(url(), path, value, headers)
  const put = (path: string, value: unknown, headers: Record<string, string>) =>
    ask(url(), {
      method: 'PUT',
      path,
      body: JSON.stringify(value),
      headers: { 'content-type': 'application/json', ...headers },
    })
  /** Triggers gate 7 and gives the number of the instance. */
  const trigger = async (
    executionId: string,
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<number> => {
    const body = { ...contractBody(executionId), ...more }
    const answer = await post('/approvalGates/7/trigger', body, { ...as('orca'), ...headers })
    expect(answer.status).toBe(200)
    return Number(objectOf(answer)['id'])
  }
  const review = (id: number, name: string, action: string, comment = '') =>
    put(`/approvalGateInstances/${id}/review`, { action, comment }, as(name))
  const statusOf = async (id: number) => objectOf(await get(`/approvalGateInstances/${id}/status`))
  return { contractBody, pluginBody, get, post, put, trigger, review, statusOf }
}

/** Status and code of an answer. */
export function outcome({ status, text }: Answered): [number, string | undefined] {
  return [status, (JSON.parse(text) as { code?: string }).code]
}
