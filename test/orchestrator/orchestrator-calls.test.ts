import { afterEach, describe, expect, it } from 'vitest'

import { refreshConfiguration } from '../../src/cli/orchestrator.js'
import type { OrchestratorSettings } from '../../src/orchestrator/settings.js'
import { updatePipeline } from '../../src/orchestrator/store-pipelines.js'
import { startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../support/loopback-server.js'
import { connectTo } from '../support/orchestrator-connection.js'
import { springError, startStorageService } from '../support/storage-service.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(respond: Respond): Promise<LoopbackServer> {
  const server = await startLoopbackServer(respond)
  closing.push(server.close)
  return server
}

function connect(url: string, settings?: Partial<OrchestratorSettings>) {
  const connection = connectTo(url, settings)
  closing.push(connection.close)
  return connection
}

describe('the update of a pipeline', () => {
  it('goes to its own path, with the id of the path in its body', async () => {
    const service = await startStorageService({ takesList: false, hasBatch: true })
    closing.push(service.close)
    service.pipelines.set('a', { id: 'x/1' })
    await updatePipeline(connect(service.origin), 'x/1', { name: 'a', id: 'other' })
    expect([...service.pipelines.values()]).toEqual([{ name: 'a', id: 'x/1' }])
    expect(service.seen[0]).toMatchObject({ method: 'PUT', url: '/pipelines/x%2F1' })
  })

  it.each([
    [404, 'not_found'],
    [400, 'invalid'],
    [409, 'conflict'],
    [403, 'unavailable'],
    [500, 'unavailable'],
  ])('that is answered %i is %s, with the reason', async (status, kind) => {
    const server = await serve((_, response) => springError(response, status, 'no such thing', ['denied']))
    await expect(updatePipeline(connect(server.origin), 'p', {})).rejects.toMatchObject({
      kind,
      message: `update pipeline p: the orchestrator answered status ${status}: denied; no such thing; Bad Request`,
    })
  })

  it('that is answered with a page says the status, not the page', async () => {
    const server = await serve((_, response) => response.writeHead(404).end('<html>'))
    await expect(updatePipeline(connect(server.origin), 'p', {})).rejects.toThrow(/answered status 404$/)
  })
})

describe('the refresh of the configuration', () => {
  it.each([
    [200, 'refreshed'],
    [204, 'refreshed'],
    [404, 'not_supported'],
    [405, 'not_supported'],
  ])('that is answered %i is %s', async (status, outcome) => {
    const server = await serve((_, response) => response.writeHead(status).end())
    const refresh = { url: `${server.origin}/config-refresh`, method: 'PUT' } as const
    expect(await refreshConfiguration(connect(server.origin, { refresh }))).toBe(outcome)
    expect(server.seen).toMatchObject([{ method: 'PUT', url: '/config-refresh' }])
  })

  it('is tried again while the component is busy, and fails in the end', async () => {
    const server = await serve((_, response) => springError(response, 503, 'busy'))
    const refresh = { url: server.origin, method: 'POST' } as const
    await expect(refreshConfiguration(connect(server.origin, { refresh }))).rejects.toMatchObject({
      kind: 'unavailable',
    })
    expect(server.seen).toHaveLength(3)
  })

  it('is not called where no URL is configured', async () => {
    expect(await refreshConfiguration(connect('http://127.0.0.1:9'))).toBe('not_configured')
  })
})
