import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { request as startRequest } from 'node:http'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { ask } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const MODE_BITS = 0o777
const PROBED = ['/health', '/livez', '/readyz', '/metrics']

let workspace: Workspace
let socketPath: string
let tidegate: TidegateProcess | undefined
let other: Server | undefined

beforeEach(() => {
  workspace = makeWorkspace({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
  socketPath = join(workspace.path, 's')
})

afterEach(async () => {
  await tidegate?.end('SIGKILL')
  other?.close()
  workspace.remove()
})

async function start(server: Record<string, unknown>): Promise<TidegateProcess> {
  tidegate = await startTidegate({ workspace, config: { server } })
  return tidegate
}

function requestOverSocket(path: string, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const options = {
      socketPath,
      path,
      headers,
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
    } as const
    const request = startRequest(options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    request.once('error', reject)
    request.end(body)
  })
}

describe('a service at a socket', () => {
  test.each([1, 2])('serves the users that may connect, with %d processes', async (workers) => {
    const { url } = await start({ addr: `unix:${socketPath}`, socketMode: '600', workers })
    expect(url).toBe(`unix:${socketPath}`)
    expect(statSync(socketPath).mode & MODE_BITS).toBe(0o600)
    const { status, text } = await requestOverSocket('/v1/data/app/allow', '{"input":{}}')
    expect([status, JSON.parse(text)]).toMatchObject([200, { result: true }])
    expect(await requestOverSocket('/health')).toMatchObject({ status: 200 })
    const doctor = await runTidegate([
      'doctor',
      '--url',
      url,
      '--config',
      join(workspace.path, 'tidegate.json'),
    ])
    expect(doctor.stdout).toMatch(/parts: \d+ up/)
  })

  test('takes over the socket that a killed one left, and takes it away at its end', async () => {
    const killed = await start({ addr: `unix:${socketPath}` })
    await killed.end('SIGKILL')
    expect(statSync(socketPath).isSocket()).toBe(true)
    const next = await start({ addr: `unix:${socketPath}` })
    expect(await requestOverSocket('/livez')).toMatchObject({ status: 200 })
    expect(await next.end('SIGTERM')).toBe(0)
    expect(() => statSync(socketPath)).toThrow('ENOENT')
  })

  test('does not replace foreign files at its path', async () => {
    writeFileSync(socketPath, 'notes')
    const file = await failToServe({ workspace, config: { server: { addr: `unix:${socketPath}` } } })
    expect(file.output).toContain('the path exists and is not a socket')
    expect(statSync(socketPath).size).toBe(5)
    socketPath = `${socketPath}2`
    other = createServer()
    await new Promise<void>((resolve) => other?.listen(socketPath, resolve))
    const taken = await failToServe({ workspace, config: { server: { addr: `unix:${socketPath}` } } })
    expect(taken.output).toContain('another program listens there')
    expect(statSync(socketPath).isSocket()).toBe(true)
  })
})

describe('a service with several addresses', () => {
  test('serves everything at each address, and only probes at one of them', async () => {
    const addresses = [{ addr: '127.0.0.1:0' }, { addr: '127.0.0.1:0', serves: 'health' }]
    const service = await start({ addresses })
    const urls = service.log().find(({ msg }) => msg === 'serving')?.['urls'] as string[]
    const [first = '', second = '', probed = ''] = urls
    expect(urls).toHaveLength(3)
    for (const url of [first, second]) {
      const decided = await ask(url, { path: '/v1/data/app/allow', body: '{"input":{}}' })
      expect(JSON.parse(decided.text)).toMatchObject({ result: true })
    }
    for (const path of PROBED) expect(await ask(probed, { path })).toMatchObject({ status: 200 })
    const refused = [
      await ask(probed, { path: '/v1/data/app/allow', body: '{"input":{}}' }),
      await ask(probed, { path: '/v1/data' }),
      await ask(probed, { path: '/' }),
      await ask(probed, { path: '/openapi.json' }),
      await ask(probed, { path: '/audit' }),
      await ask(probed, { path: '/health/../v1/data' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404))
    expect(await ask(probed, { path: '/health', headers: { host: 'rebound.example.org' } })).toMatchObject({
      status: 403,
    })
    expect(await service.end('SIGTERM')).toBe(0)
  })

  test('is not open beyond loopback at any of them without tokens, but for probes', () => {
    const config = (addresses: unknown[]): string => {
      workspace.write({ 'c.json': JSON.stringify({ server: { addresses } }) })
      const program = [
        join(process.cwd(), 'dist/cli.js'),
        'config',
        '--config',
        join(workspace.path, 'c.json'),
      ]
      const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
      return `${status} ${stderr}`
    }
    expect(config([{ addr: '0.0.0.0:0' }])).toContain('is reachable from other machines')
    expect(config([{ addr: '0.0.0.0:0', serves: 'health' }])).toMatch(/^0 /)
    expect(config([{ addr: `unix:${socketPath}` }])).toMatch(/^0 /)
    expect(config([{ addr: '127.0.0.1:8181' }])).toContain('repeated addresses')
    expect(config([{ addr: '127.0.0.1:0', tls: true }])).toContain('needs server.tlsCertificate')
  })
})
