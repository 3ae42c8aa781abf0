import { afterEach, describe, expect, it } from 'vitest'

import type { Definition } from '../../src/orchestrator/definition.js'
import { storePipelines } from '../../src/orchestrator/store-pipelines.js'
import type { OrchestratorSettings } from '../../src/orchestrator/settings.js'
import { startLoopbackServer } from '../support/loopback-server.js'
import { connectTo } from '../support/orchestrator-connection.js'
import { springError, startStorageService } from '../support/storage-service.js'
import type { StorageDialect, StorageService } from '../support/storage-service.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const CONTRACT: StorageDialect = { takesList: true, hasBatch: false }
const TODAY: StorageDialect = { takesList: false, hasBatch: true }
const OLD: StorageDialect = { takesList: false, hasBatch: false }

async function serve(dialect: StorageDialect): Promise<StorageService> {
  const service = await startStorageService(dialect)
  closing.push(service.close)
  return service
}

function connect(url: string, settings?: Partial<OrchestratorSettings>) {
  const connection = connectTo(url, settings)
  closing.push(connection.close)
  return connection
}

function pipelinesNamed(...names: string[]): Definition[] {
  return names.map((name) => ({ application: 'shop', name, id: `id-${name}`, stages: [] }))
}

const REFUSED = { application: 'shop', pipeline: 'refused' }

describe('pipelines are stored', () => {
  it.each<readonly [string, StorageDialect, string]>([
    ['as the contract writes it', CONTRACT, 'contract'],
    ['as the orchestrator of today takes them', TODAY, 'batch'],
    ['one by one where there is no other way', OLD, 'single'],
  ])('%s, which is found out', async (_, dialect, mode) => {
    const service = await serve(dialect)
    const report = await storePipelines(connect(service.origin), pipelinesNamed('a', 'b'))
    expect(report).toEqual({ mode, stored: 2, failures: [] })
    expect([...service.pipelines.keys()]).toEqual(['a', 'b'])
  })

  it('in parts, all in the way that the first was taken in', async () => {
    const service = await serve(TODAY)
    const names = Array.from({ length: 250 }, (_, index) => `p${index}`)
    const seen: number[] = []
    const report = await storePipelines(connect(service.origin), pipelinesNamed(...names), (done) => {
      seen.push(done)
    })
    expect(report).toEqual({ mode: 'batch', stored: 250, failures: [] })
    expect(service.seen.map(({ url }) => url)).toEqual([
      '/pipelines',
      '/pipelines/batchUpdate',
      '/pipelines/batchUpdate',
      '/pipelines/batchUpdate',
    ])
    expect(seen).toEqual([100, 200, 250])
  })

  it('and none is not asked for', async () => {
    const service = await serve(TODAY)
    expect(await storePipelines(connect(service.origin), [])).toEqual({
      mode: undefined,
      stored: 0,
      failures: [],
    })
    expect(service.seen).toEqual([])
  })
})

describe('a pipeline that is refused', () => {
  it.each<readonly [string, StorageDialect, string]>([
    ['batch', TODAY, 'denied by policy'],
    ['single', OLD, 'status 400: denied by policy; Validation Failed.; Bad Request'],
  ])('is named with its reason while the others are stored (%s)', async (mode, dialect, reason) => {
    const service = await serve(dialect)
    const report = await storePipelines(connect(service.origin), pipelinesNamed('a', 'refused', 'b'))
    expect(report).toEqual({ mode, stored: 2, failures: [{ ...REFUSED, reason }] })
    expect([...service.pipelines.keys()]).toEqual(['a', 'b'])
  })

  it('in a list of the contract makes the whole list fail, with the reasons of all ways', async () => {
    const service = await serve(CONTRACT)
    const { mode, stored, failures } = await storePipelines(
      connect(service.origin),
      pipelinesNamed('a', 'refused'),
    )
    expect([mode, stored]).toEqual([undefined, 0])
    expect(failures.map(({ pipeline }) => pipeline)).toEqual(['a', 'refused'])
    for (const { reason } of failures) {
      expect(reason).toMatch(/^status 400: JSON parse error.*; in another way: status 400: denied by policy/s)
    }
  })

  it.each(['contract', 'batch', 'single'] as const)(
    'for its form says so where the way is configured (%s)',
    async (storeMode) => {
      const service = await serve(storeMode === 'contract' ? OLD : CONTRACT)
      const report = await storePipelines(connect(service.origin, { storeMode }), pipelinesNamed('a'))
      expect(report.stored).toBe(0)
      expect(report.failures).toEqual([
        { application: 'shop', pipeline: 'a', reason: expect.stringMatching(/^status 40[04]: /) as unknown },
      ])
      expect(service.seen).toHaveLength(1)
    },
  )
})

describe('a storage service that fails', () => {
  it('and recovers is queried again, unless a pipeline would be made twice', async () => {
    const server = await startLoopbackServer((_, response, nth) => {
      if (nth === 1) springError(response, 503, 'starting')
      else response.end('[]')
    })
    closing.push(server.close)
    const connection = connect(server.origin, { storeMode: 'contract' })
    expect(await storePipelines(connection, pipelinesNamed('a'))).toMatchObject({ stored: 1 })
    const again = await startLoopbackServer((_, response) => springError(response, 503, 'starting'))
    closing.push(again.close)
    const report = await storePipelines(connect(again.origin), [{ application: 'shop', name: 'new' }])
    expect(report.failures).toMatchObject([{ reason: 'status 503: starting; Bad Request' }])
    expect(again.seen).toHaveLength(1)
  })

  it('is named in the failure of every pipeline', async () => {
    const server = await startLoopbackServer(() => undefined)
    await server.close()
    const report = await storePipelines(connect(server.origin), pipelinesNamed('a', 'b'))
    expect(report).toMatchObject({
      mode: undefined,
      stored: 0,
      failures: [{ pipeline: 'a' }, { pipeline: 'b' }],
    })
    expect(report.failures[0]?.reason).toContain(`${server.origin} could not be reached`)
  })

  it('with a batch that tells nothing has stored nothing, as far as is known', async () => {
    const server = await startLoopbackServer((_, response) => response.end('<html>'))
    closing.push(server.close)
    const report = await storePipelines(connect(server.origin, { storeMode: 'batch' }), pipelinesNamed('a'))
    expect(report.failures).toMatchObject([
      { reason: 'the storage service did not say which pipelines it stored' },
    ])
  })
})
