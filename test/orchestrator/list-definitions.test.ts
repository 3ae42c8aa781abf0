import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, describe, expect, it } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { withListing } from '../../src/orchestrator/list-definitions.js'
import type { Definition } from '../../src/orchestrator/definition.js'
import type { OrchestratorSettings } from '../../src/orchestrator/settings.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { connectTo } from '../support/orchestrator-connection.js'
import { springError } from '../support/storage-service.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(respond: (response: ServerResponse) => void): Promise<LoopbackServer> {
  const server = await startLoopbackServer((_, response) => respond(response))
  closing.push(server.close)
  return server
}

async function list(
  server: LoopbackServer,
  settings: Partial<OrchestratorSettings> = {},
  what: 'pipelines' | 'applications' = 'pipelines',
): Promise<{ count: number; definitions: Definition[] }> {
  const connection = connectTo(server.origin, settings)
  closing.push(connection.close)
  return withListing(connection, what, async ({ count, definitions }) => {
    const all: Definition[] = []
    for await (const definition of definitions()) all.push(definition)
    return { count, definitions: all }
  })
}

async function failureOf(listing: Promise<unknown>): Promise<AppError> {
  const error: unknown = await listing.then(
    () => undefined,
    (raw: unknown) => raw,
  )
  if (error instanceof AppError) return error
  throw new Error(`no AppError: ${String(error)}`)
}

const PIPELINES = Array.from({ length: 500 }, (_, index) => ({
  application: 'shop',
  name: `p${index} "[{,é`,
  stages: [{ refId: '1', requisiteStageRefIds: [], type: 'wait', comments: '\\"]}'.repeat(index % 50) }],
}))

describe('a list of the storage service', () => {
  it('gives all definitions, with the rights of the service itself', async () => {
    const server = await serve((response) => respondJson(response, 200, PIPELINES))
    const storageCredentials = { type: 'bearer', token: new Secret('t') } as const
    expect(await list(server, { storageCredentials })).toEqual({ count: 500, definitions: PIPELINES })
    expect(server.seen[0]?.url).toBe('/pipelines?restricted=false')
    expect(server.seen[0]?.headers['authorization']).toBe('Bearer t')
    await list(server, {}, 'applications')
    expect(server.seen[1]?.url).toBe('/v2/applications?restricted=false')
  })

  it('may be empty', async () => {
    const server = await serve((response) => response.end(' [ ] \n'))
    expect(await list(server)).toEqual({ count: 0, definitions: [] })
  })

  it('says when it was asked for', async () => {
    const server = await serve((response) => respondJson(response, 200, []))
    const connection = { ...connectTo(server.origin), now: () => 17 }
    closing.push(connection.close)
    expect(await withListing(connection, 'pipelines', ({ listedAt }) => Promise.resolve(listedAt))).toBe(17)
  })

  it.each<readonly [string, (response: ServerResponse) => void, string]>([
    ['is cut off', (response) => response.end('[{"name":"a"},{"na'), 'the list is truncated'],
    ['is cut off between two', (response) => response.end('[{"name":"a"},'), 'the list is truncated'],
    ['is empty text', (response) => response.end(), 'the list is truncated'],
    ['is an object', (response) => respondJson(response, 200, { error: 'x' }), 'the answer is not a list'],
    ['is HTML', (response) => response.end('<html>'), 'the answer is not a list'],
    [
      'has an entry of another kind',
      (response) => respondJson(response, 200, [{}, 'x']),
      'is no JSON object',
    ],
    ['has a broken entry', (response) => response.end('[{"a":tru}]'), 'is no JSON object'],
    ['has a comma too many', (response) => response.end('[{},]'), 'is no JSON object'],
    ['is followed by something', (response) => response.end('[] []'), 'something follows the list'],
    ['has a huge entry', (response) => response.end(`[{"a":"${'x'.repeat(70_000)}`), 'more than 65536 bytes'],
    ['is nested too deeply', (response) => response.end(`[{"a":${'['.repeat(50_000)}`), 'is truncated'],
    [
      'has an entry nested too deeply',
      (response) => response.end(`[{"a":${'['.repeat(5000)}${']'.repeat(5000)}}]`),
      'more than 512 levels deep',
    ],
    ['is too long', (response) => response.end(`[${'{},'.repeat(500_000)}`), 'more than 1048576 bytes'],
    ['is refused', (response) => springError(response, 403, 'Access denied'), 'status 403: Access denied'],
    ['ends in the middle', (response) => response.write('[{}', () => response.destroy()), 'could not be'],
  ])('is used by nobody when it %s', async (_, respond, text) => {
    const server = await serve(respond)
    const connection = connectTo(server.origin)
    closing.push(connection.close)
    let wasUsed = false
    const listing = withListing(connection, 'pipelines', () => {
      wasUsed = true
      return Promise.resolve()
    })
    const error = await failureOf(listing)
    expect(error.kind).toBe('unavailable')
    expect(error.message).toContain(text)
    expect(wasUsed).toBe(false)
  })

  it('is given up when it takes too long', async () => {
    const server = await serve((response) => response.write('[{}'))
    expect(await failureOf(list(server, { listTimeoutMs: 50 }))).toMatchObject({ code: 'timed_out' })
  })

  it('leaves no file behind', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tidegate-listing-'))
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = directory
    try {
      await list(await serve((response) => respondJson(response, 200, PIPELINES)))
      await failureOf(list(await serve((response) => response.end('[{'))))
      expect(readdirSync(directory)).toEqual([])
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      rmSync(directory, { recursive: true })
    }
  })
})
