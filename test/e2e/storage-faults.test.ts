import type { ServerResponse } from 'node:http'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { ask } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const PIPELINES = Array.from({ length: 40 }, (_, index) => ({
  id: `id-${index}`,
  name: `p${index}`,
  application: 'shop',
  stages: [],
}))
const HALF = JSON.stringify(PIPELINES).slice(0, -300)
const JSON_TYPE = { 'content-type': 'application/json' }
const workspace = makeWorkspace({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })

type Answer = (response: ServerResponse) => void

/** A service over the same data as the others, which reconciles with a storage service that answers so. */
async function reconcileWith(answer: Answer): Promise<TidegateProcess> {
  const storage = await startLoopbackServer(({ url }, response) => {
    if (url.startsWith('/v2/applications')) respondJson(response, 200, [{ name: 'shop' }])
    else answer(response)
  })
  onTestFinished(storage.close)
  const service = await startTidegate({
    workspace,
    config: { orchestrator: { storageUrl: storage.origin, listTimeoutSeconds: 1 } },
  })
  onTestFinished(async () => {
    await service.end('SIGTERM')
  })
  return service
}

async function reconciliations({ url }: TidegateProcess): Promise<{ done: number; failed: number }> {
  const { text } = await ask(url, { path: '/metrics' })
  const count = (result: string): number =>
    Number(new RegExp(`^tidegate_reconciliations_total\\{result="${result}"\\} (\\d+)`, 'm').exec(text)?.[1])
  return { done: count('success'), failed: count('failure') }
}

async function pipelineNames({ url }: TidegateProcess): Promise<string[]> {
  const { text } = await ask(url, { path: '/pipelines?limit=500' })
  const { pipelines } = JSON.parse(text) as { readonly pipelines: readonly { readonly name: string }[] }
  return pipelines.map(({ name }) => name).sort()
}

beforeAll(async () => {
  const storage = await startLoopbackServer(({ url }, response) =>
    respondJson(response, 200, url.startsWith('/v2/') ? [{ name: 'shop' }] : PIPELINES),
  )
  const service = await startTidegate({
    workspace,
    config: { orchestrator: { storageUrl: storage.origin } },
  })
  await waitUntil(
    async () => ((await reconciliations(service)).done === 1 ? true : undefined),
    () => `the registry is not reconciled: ${service.logText()}`,
  )
  await service.end('SIGTERM')
  await storage.close()
})

afterAll(() => workspace.remove())

/** A byte every little while, so that no pause alone is too long. */
function drip(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE)
  let sent = 0
  const timer = setInterval(() => response.write(HALF.charAt(sent++)), 20)
  response.on('close', () => clearInterval(timer))
}

describe('a registry whose storage service', () => {
  it.each<readonly [string, Answer, RegExp]>([
    ['answers too late', () => undefined, /did not answer in full within 1000 ms/],
    ['drips its answer', drip, /did not answer in full within 1000 ms/],
    [
      'closes the connection halfway',
      (response) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-length': String(HALF.length + 300) })
        response.write(HALF, () => response.destroy())
      },
      /could not be reached/,
    ],
    [
      'answers half a list',
      (response) => response.writeHead(200, JSON_TYPE).end(HALF),
      /read all pipelines: /,
    ],
    [
      'answers a page with status 200',
      (response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Log in</body></html>'),
      /read all pipelines: /,
    ],
    [
      'answers an object',
      (response) => respondJson(response, 200, { content: PIPELINES }),
      /read all pipelines: /,
    ],
    [
      'answers nothing at all',
      (response) => response.writeHead(200, JSON_TYPE).end(),
      /read all pipelines: /,
    ],
    [
      'answers an empty list',
      (response) => respondJson(response, 200, []),
      /the list lacks 40 of the 40 known entries/,
    ],
  ])('%s stays as it was and says so', async (_, answer, complaint) => {
    const service = await reconcileWith(answer)
    await waitUntil(
      async () => ((await reconciliations(service)).failed === 1 ? true : undefined),
      () => `no reconciliation failed: ${service.logText()}`,
    )
    expect(await reconciliations(service)).toEqual({ done: 0, failed: 1 })
    expect(await pipelineNames(service)).toEqual(PIPELINES.map(({ name }) => name).sort())
    const health = await ask(service.url, { path: '/health?plugins' })
    expect(health.status).toBe(500)
    expect(JSON.parse(health.text)).toMatchObject({ plugins: { registry: { state: 'NOT_READY' } } })
    const { error } = await untilLogged(
      service,
      ({ level, msg }) => level === 'error' && msg === 'registry not reconciled, it stays as it was',
    )
    expect(error).toMatch(complaint)
  })
})
