import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { startReceiver } from '../support/receiver.js'
import type { Receiver } from '../support/receiver.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICIES = {
  'policies/deploy.rego': `package deploy

import rego.v1

owner := http.send({"method": "get", "url": sprintf("%s/owners/%s", [input.inventory, input.app]), "headers": {"x-secret": "hidden"}}).body.owner

deny contains sprintf("%s is owned by %s", [input.app, owner]) if owner != input.user

slowly := owner if count([1 | some i in numbers.range(1, 300); some j in numbers.range(1, 300)]) >= 0
`,
  'policies/static.rego': `package static.owned

import rego.v1

deny contains "nobody owns it" if {
  response := http.send({"method": "get", "url": input.pipeline.inventory})
  response.status_code == 404
}
`,
}

describe.each([1, 2])('a service of %d processes whose policies call another', (workers) => {
  const workspace = makeWorkspace(POLICIES)
  let inventory: Receiver
  let service: TidegateProcess

  beforeAll(async () => {
    inventory = await startReceiver((response, _, { path }) => {
      response.writeHead(path === '/none' ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ owner: path.split('/').at(-1) === 'mine' ? 'ana' : 'bob' }))
    })
    service = await startTidegate({
      workspace,
      config: {
        server: { workers },
        policies: {
          requests: { allowedHosts: ['127.0.0.1'], maxPerDecision: 4 },
          limits: { sliceMs: 5 },
        },
      },
    })
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    await inventory.close()
    workspace.remove()
  })

  async function ask(
    path: string,
    input: Record<string, unknown>,
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${service.url}${path}`, { method: 'POST', body: JSON.stringify(input) })
    return { status: response.status, body: await response.json() }
  }
  const data = (rule: string, app: string, url = inventory.url) =>
    ask(`/v1/data/deploy/${rule}`, { input: { app, user: 'ana', inventory: url } })

  test('returns their responses in sequential and parallel decisions', async () => {
    for (let count = 0; count < 4; count += 1) {
      expect((await data('deny', 'mine')).body).toMatchObject({ result: [] })
    }
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, place) => data('deny', place % 2 === 0 ? 'mine' : 'yours')),
    )
    for (const [place, { status, body }] of many.entries()) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ result: place % 2 === 0 ? [] : ['yours is owned by bob'] })
    }
  })

  test('logs the responses with each decision, without credentials', async () => {
    await data('deny', 'mine')
    const kept = await waitUntil(
      async () => {
        const response = await fetch(`${service.url}/decisions?path=deploy/deny&limit=1&inputs=true`)
        const { decisions } = (await response.json()) as { decisions: { ndBuiltinCache?: object }[] }
        return decisions[0]
      },
      () => 'no decision was kept',
    )
    const calls = Object.entries(kept.ndBuiltinCache ?? {})
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject(['http.send', expect.anything()])
    const text = JSON.stringify(kept.ndBuiltinCache)
    expect(text).toContain('"owner":"ana"')
    expect(text).toContain('x-secret')
    expect(text).not.toContain('hidden')
  })

  test('does so where the evaluation outlasts its slice', async () => {
    expect((await data('slowly', 'mine')).body).toMatchObject({ result: 'ana' })
  })

  test('refuses to decide, and never allows, if the host is not allowed', async () => {
    const { status, body } = await data('deny', 'mine', 'http://127.0.0.2:1')
    expect(status).toBe(500)
    expect(body).toMatchObject({ code: 'evaluation_request_refused' })
  })

  test('also sends requests for static policies', async () => {
    const check = (path: string) =>
      ask('/v1/data/static/owned/deny', { input: { pipeline: { inventory: inventory.url + path } } })
    expect((await check('/some')).body).toMatchObject({ result: [] })
    expect((await check('/none')).body).toMatchObject({ result: ['nobody owns it'] })
  })
})
