import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { latencies } from '../support/analysis-files.js'
import { pastCanary } from '../support/analysis-service.js'
import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { FILE_ANALYSIS, analysisIn } from '../support/file-analysis.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { pipelineEvent } from '../support/orchestrator-events.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

/** Programs of other releases of Node.js, separated by colons: `make test-releases` sets them. */
const OTHER_NODES = (process.env['TEST_NODES'] ?? '').split(':').filter((path) => path !== '')
/** How many times each starts and stops; worker processes take part in every second start. */
const STARTS = Number(process.env['STARTS'] ?? 2)
const NODES = [process.execPath, ...OTHER_NODES].map((node) => ({
  node,
  version: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
}))

const workspace = makeWorkspace()
let receiver: CallbackReceiver
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  receiver = await startReceiver()
  workspace.write({
    'policies/release.rego':
      'package static.release\n\nimport rego.v1\n\ndeny contains "no name" if not input.new.name\n',
    'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
    ...Object.fromEntries(['stable', 'healthy'].map((name) => [`data/${name}.csv`, latencies(100)])),
  })
})
afterAll(async () => {
  for (const end of ends) await end()
  await receiver.close()
  workspace.remove()
})

function start(node: string, version: string, round: number): Promise<TidegateProcess> {
  return startTidegate({
    workspace,
    node,
    dataDir: `data-directory-${version}`,
    config: {
      server: { workers: 1 + (round % 2) },
      callbacks: { allowLoopback: true },
      gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
      analysis: analysisIn(workspace.path),
    },
  })
}

async function decide({ url }: TidegateProcess): Promise<void> {
  const save = (pipeline: object) => postJson(url, '/v1/staticPolicy/eval', { input: { new: pipeline } })
  expect((await save({ name: 'release' })).status).toBe(200)
  expect((await save({})).status).toBe(401)
}

async function approve({ url }: TidegateProcess, executionId: string): Promise<void> {
  const body = {
    executionId,
    approvalCallbackURL: `${receiver.url}/yes`,
    rejectionCallbackURL: `${receiver.url}/no`,
    toolConnectorParameters: '',
    imageIds: 'shop:1',
    connectorType: 'JIRA',
  }
  const triggered = await postJson(url, '/approvalGates/7/trigger', body)
  expect(triggered.status, triggered.text).toBe(200)
  const reviewed = await ask(url, {
    method: 'PUT',
    path: `/approvalGateInstances/${String(objectOf(triggered)['id'])}/review`,
    headers: { 'content-type': 'application/json', 'x-spinnaker-user': 'ana' },
    body: JSON.stringify({ action: 'approve', comment: 'fine' }),
  })
  expect(reviewed.status, reviewed.text).toBe(200)
}

async function judge({ url }: TidegateProcess): Promise<void> {
  const registered = await postJson(url, '/autopilot/api/v3/registerCanary', pastCanary('healthy'))
  expect(registered.status, registered.text).toBe(202)
  const path = `/autopilot/canaries/${String(objectOf(registered)['canaryId'])}`
  const { complete } = await waitUntil(
    async () => {
      const { status } = objectOf(await ask(url, { path })) as { status: { complete: boolean } }
      return status.complete ? status : undefined
    },
    () => 'the canary is not judged',
  )
  expect(complete).toBe(true)
}

describe.each(NODES)('on Node.js $version', ({ node, version }) => {
  test(
    'the service decides, opens a gate, keeps an event, judges a canary, and stops with exit code 0 and nothing but its log',
    async () => {
      for (let round = 0; round < STARTS; round += 1) {
        const tidegate = await start(node, version, round)
        ends.push(() => tidegate.end('SIGKILL'))
        await decide(tidegate)
        await approve(tidegate, `execution-${round}`)
        const event = await postJson(tidegate.url, '/platform/echo', pipelineEvent())
        expect(event.status, event.text).toBe(200)
        if (round === 0) await judge(tidegate)
        expect(await tidegate.end('SIGTERM'), tidegate.logText()).toBe(0)
        const others = tidegate.logText().split('\n')
        expect(others.filter((line) => line !== '' && !line.startsWith('{"level":"'))).toEqual([])
      }
    },
    STARTS * 10_000 + 60_000,
  )
})
