import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { base64Json, changeEvent, changeStage } from '../support/orchestrator-events.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const TIME_LIMIT_MS = 120_000
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A loopback server that counts requests and answers when the test allows it. */
async function startTool() {
  const tool = { asked: 0, isAnswering: false }
  const server: Server = createServer((request, response) => {
    tool.asked += 1
    request.resume()
    if (!tool.isAnswering) return
    const fields = { status: { name: 'Done' }, priority: { name: 'High' } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ key: 'OPS-1', fields }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(tool, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function workspaceWithPolicies(): Workspace {
  const workspace = makeWorkspace()
  onTestFinished(() => workspace.remove())
  workspace.write({ 'policies/empty.rego': 'package empty\n\ndeny := []\n' })
  return workspace
}

async function start(
  workspace: Workspace,
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<TidegateProcess> {
  const tidegate = await startTidegate({ workspace, config })
  closers.push(() => tidegate.end('SIGKILL'))
  return tidegate
}

/** The records of two processes that ended during this work. */
function leaveUnfinished(workspace: Workspace, ...works: readonly (readonly [string, string])[]): void {
  const data = join(workspace.path, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const lines = works.map(([kind, key]) => `${JSON.stringify([2, kind, key])}\n`)
  writeFileSync(join(data, 'unfinished-work.jsonl'), lines.join(''), { mode: 0o600 })
}

const gateConfig = (toolUrl: string) => ({
  connectors: { accounts: [{ name: 'tickets', type: 'jira', url: toolUrl }], allowLoopback: true },
  callbacks: { allowLoopback: true, allowPrivate: true },
  gates: { definitions: [{ id: 8, name: 'Automatic', application: 'shop', approvals: 1 }] },
})

const trigger = {
  approvalCallbackURL: 'http://127.0.0.1:1/yes',
  rejectionCallbackURL: 'http://127.0.0.1:1/no',
  executionId: '01J',
  toolConnectorParameters: [{ connectorType: 'JIRA', parameters: [{ jira_ticket_no: 'OPS-1' }] }],
  customConnectorData: [],
  payloadConstraint: [{ region: 'eu' }],
}

async function get(tidegate: TidegateProcess, path: string): Promise<Record<string, unknown>> {
  return objectOf(await ask(tidegate.url, { path }))
}

test(
  'evidence whose fetch killed the process twice is not fetched again: approvers decide, and the third start serves',
  async () => {
    const workspace = workspaceWithPolicies()
    const tool = await startTool()
    const config = gateConfig(tool.url)
    const first = await start(workspace, config)
    const answer = await postJson(first.url, '/visibilityservice/v1/approvalGates/8/trigger', trigger)
    expect(answer.text).toContain('id')
    await waitUntil(
      () => tool.asked >= 1 || undefined,
      () => first.logText(),
    )
    await first.end('SIGKILL')
    const second = await start(workspace, config)
    await waitUntil(
      () => tool.asked >= 2 || undefined,
      () => second.logText(),
    )
    await second.end('SIGKILL')
    const third = await start(workspace, config)
    const setAside = {
      kind: 'gate-instance',
      key: '1',
      reason: expect.stringMatching(/ended 2 times/) as unknown,
    }
    expect(await get(third, '/backgroundWork')).toEqual({ setAside: [setAside] })
    const instance = await waitUntil(
      async () => {
        const shown = await get(third, '/approvalGateInstances/1')
        return shown['isEvidencePending'] === false ? shown : undefined
      },
      () => third.logText(),
    )
    expect(instance['status']).toBe('activated')
    expect(JSON.stringify(instance['evidence'])).toMatch(/ended 2 times/)
    expect(JSON.stringify(await get(third, '/health?plugins'))).toContain(
      '1 suspended after ending the service twice',
    )
    expect(tool.asked).toBe(2)
    tool.isAnswering = true
    const resumed = await postJson(third.url, '/backgroundWork/gate-instance/1/resume', {})
    expect(resumed.status).toBe(200)
    await waitUntil(
      async () =>
        JSON.stringify((await get(third, '/approvalGateInstances/1'))['evidence']).includes('"fetched"') ||
        undefined,
      () => third.logText(),
    )
    expect(await get(third, '/backgroundWork')).toEqual({ setAside: [] })
  },
  TIME_LIMIT_MS,
)

test(
  'a reconciliation that ended the process twice is not begun, which health tells, until somebody resumes it',
  async () => {
    const workspace = workspaceWithPolicies()
    leaveUnfinished(workspace, ['reconciliation', 'registry'])
    const storage = await startTool()
    const tidegate = await start(workspace, { orchestrator: { storageUrl: storage.url } })
    const health = await waitUntil(
      async () => {
        const plugins = JSON.stringify((await get(tidegate, '/health?plugins'))['plugins'])
        return plugins.includes('ended 2 times') ? plugins : undefined
      },
      () => tidegate.logText(),
    )
    expect(health).toContain('NOT_READY')
    expect(storage.asked).toBe(0)
    await postJson(tidegate.url, '/backgroundWork/reconciliation/registry/resume', {})
    await waitUntil(
      () => storage.asked > 0 || undefined,
      () => tidegate.logText(),
    )
  },
  TIME_LIMIT_MS,
)

test(
  'a definition file that crashed the process twice is ignored until it changes, and such events are skipped',
  async () => {
    const workspace = workspaceWithPolicies()
    const definition = JSON.stringify({ metrics: { source: 'files', template: 'big' } })
    workspace.write({ 'definitions/shop.json': definition, 'definitions/cart.json': definition })
    const file = join(workspace.path, 'definitions/shop.json')
    const { mtimeMs } = statSync(file)
    leaveUnfinished(
      workspace,
      ['definition-file', `shop.json of ${new Date(mtimeMs).toISOString()}`],
      ['registry-events', 'oldest'],
    )
    const config = { analysis: { definitions: join(workspace.path, 'definitions') } }
    const tidegate = await start(workspace, config)
    expect((await ask(tidegate.url, { path: '/analysis/applications/cart' })).status).toBe(200)
    expect((await ask(tidegate.url, { path: '/analysis/applications/shop' })).status).toBe(404)
    await untilLogged(tidegate, (line) =>
      JSON.stringify(line).includes('it is not read again until it changes'),
    )
    const pipeline = base64Json({ name: 'prod', application: 'shop', id: 'p1', stages: [] })
    await postJson(tidegate.url, '/platform/echo', changeEvent([changeStage('savePipeline', { pipeline })]))
    await waitUntil(
      () => tidegate.logText().includes('an event was skipped') || undefined,
      () => tidegate.logText(),
    )
    await tidegate.end('SIGTERM')
    workspace.write({ 'definitions/shop.json': ` ${definition}` })
    const again = await start(workspace, config)
    expect((await ask(again.url, { path: '/analysis/applications/shop' })).status).toBe(200)
  },
  TIME_LIMIT_MS,
)
