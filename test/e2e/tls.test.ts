import { spawnSync } from 'node:child_process'
import type { SpawnSyncReturns } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { join } from 'node:path'
import { TLSSocket, connect } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import type { CertificateFiles } from '../support/certificates.js'
import { callUntilClosed } from '../support/keep-alive-client.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { failToServe, startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { ServeSettings, TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const HEALTH_CHECK = join(PROJECT_ROOT, 'build/container/health-check.js')
const POLICY = 'package app\n\nimport rego.v1\n\nallow if input.a == 1\n'
const BODY = '{"input":{"a":1}}'
const CALL = `POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`

let keys: Workspace | undefined
let files: Record<'server' | 'renewed' | 'echo' | 'auditor' | 'unknown' | 'stranger', CertificateFiles>
let authority: string
let workspace: Workspace | undefined
let tidegate: TidegateProcess | undefined

beforeAll(() => {
  if (!canMakeCertificates) return
  const { path } = (keys = makeWorkspace())
  const own = new CertificateAuthority(path)
  const names = 'DNS:localhost,IP:127.0.0.1'
  authority = readFileSync(own.certificate, 'utf8')
  files = {
    server: own.make('server', { subject: '/CN=tidegate', names }),
    renewed: own.make('renewed', { subject: '/CN=tidegate renewed', names }),
    echo: own.make('echo', { subject: '/O=Example/CN=echo' }),
    auditor: own.make('auditor', { subject: '/CN=any', names: 'URI:spiffe://example.org/auditor' }),
    unknown: own.make('unknown', { subject: '/O=Example/CN=unknown' }),
    stranger: new CertificateAuthority(path, 'stranger-authority').make('stranger', {
      subject: '/O=Example/CN=echo',
    }),
  }
})

afterEach(async () => {
  await tidegate?.end('SIGKILL')
  workspace?.remove()
})

afterAll(() => keys?.remove())

/** A service with a certificate of its own folder, so that a test may replace it. */
async function start(
  server: Record<string, unknown> = {},
  auth: Record<string, unknown> = {},
): Promise<TidegateProcess> {
  tidegate = await startTidegate(settings(server, auth))
  return tidegate
}

function settings(server: Record<string, unknown>, auth: Record<string, unknown>): ServeSettings {
  workspace = makeWorkspace({ 'policies/app.rego': POLICY })
  const own = workspace
  install('server')
  const tls = { tlsCertificate: inWorkspace('tls.pem'), tlsKey: inWorkspace('tls.key') }
  return { workspace: own, config: { server: { ...tls, ...server }, auth } }
}

function inWorkspace(name: string): string {
  return join(workspace?.path ?? '', name)
}

function ownAuthority(): string {
  return join(keys?.path ?? '', 'authority.pem')
}

function install(kind: 'server' | 'renewed'): void {
  copyFileSync(files[kind].certificate, inWorkspace('tls.pem'))
  copyFileSync(files[kind].key, inWorkspace('tls.key'))
}

interface Answer {
  readonly status: number
  readonly text: string
  /** The name of the service in its certificate. */
  readonly shownBy: string
}

interface Asked {
  readonly path?: string
  readonly method?: string
  readonly as?: keyof typeof files
  readonly headers?: Record<string, string>
  readonly agent?: Agent
}

function ask(
  url: string,
  { path = '/v1/data/app/allow', method = 'POST', as, headers, agent }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = startRequest(
      new URL(path, url),
      {
        agent: agent ?? new Agent(),
        method,
        ca: authority,
        servername: 'localhost',
        headers: { 'content-type': 'application/json', ...headers },
        ...shown(as),
      },
      (answer) => {
        const { socket } = answer
        const shownBy = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : 'nobody'
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('end', () => {
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            shownBy: String(shownBy),
          })
        })
      },
    )
    request.once('error', reject)
    request.end(method === 'POST' ? BODY : undefined)
  })
}

function shown(as: keyof typeof files | undefined): Pick<ConnectionOptions, 'cert' | 'key'> {
  if (as === undefined) return {}
  return { cert: readFileSync(files[as].certificate), key: readFileSync(files[as].key) }
}

function open(url: string, options: ConnectionOptions = {}): TLSSocket {
  const { hostname, port } = new URL(url)
  return connect({ host: hostname, port: Number(port), ca: authority, ...options })
}

function outcomeOf(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''))
    socket.once('error', () => resolve('refused'))
  })
}

const certificates = [
  { name: 'echo', roles: ['orchestrator'], subject: 'CN=echo, O=Example' },
  { name: 'auditor', roles: ['auditor'], san: 'URI:spiffe://example.org/auditor' },
]

describe.skipIf(!canMakeCertificates)('a service with a certificate (openssl makes one)', () => {
  test('answers decisions and everything else over TLS of today, and nothing older', async () => {
    const { url } = await start()
    expect(url).toMatch(/^https:/)
    expect(await ask(url)).toMatchObject({ status: 200, shownBy: 'tidegate' })
    expect(await ask(url, { path: '/health', method: 'GET' })).toMatchObject({ status: 200 })
    const versions = ['TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
    const outcomes = versions.map((version) =>
      outcomeOf(open(url, { minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' })),
    )
    expect(await Promise.all(outcomes)).toEqual(['refused', 'TLSv1.2', 'TLSv1.3'])
  })

  test('accepts only its own names on loopback, and refuses plain HTTP', async () => {
    const service = await start()
    expect(await ask(service.url, { headers: { host: 'rebound.example.org' } })).toMatchObject({
      status: 403,
    })
    const { hostname, port } = new URL(service.url)
    const socket = connectPlainly(Number(port), hostname)
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(CALL)
    await closed
    expect(Buffer.concat(received).toString()).not.toContain('HTTP/1.1 200')
    await untilLogged(service, ({ error }) => error === 'ERR_SSL_HTTP_REQUEST')
  })

  test.each([1, 2])('takes client certificates for tokens, with %d processes', async (workers) => {
    const ca = ownAuthority()
    const service = await start({ workers, tlsClientCa: ca }, { certificates })
    await untilAllServe(service, workers)
    const rounds = Array.from({ length: 4 * workers }, async () => {
      const answers = await Promise.all([
        ask(service.url, { as: 'echo' }),
        ask(service.url, { as: 'auditor' }),
        ask(service.url, { as: 'auditor', path: '/audit', method: 'GET' }),
        ask(service.url, { as: 'echo', path: '/audit', method: 'GET' }),
        ask(service.url, { as: 'unknown' }),
        ask(service.url, { as: 'stranger' }),
        ask(service.url),
        ask(service.url, { as: 'echo', headers: { authorization: 'Bearer wrong' } }),
        // A header cannot establish the caller's identity.
        ask(service.url, {
          path: '/audit',
          method: 'GET',
          headers: { 'tidegate-relayed-certificate': 'e30=' },
        }),
      ])
      // Where 401 would be taken for a denial it is 403.
      expect(answers.map(({ status }) => status)).toEqual([200, 403, 200, 403, 403, 403, 403, 403, 401])
    })
    await Promise.all(rounds)
  })

  test('refuses pages of others that a browser shows its certificate for', async () => {
    const ca = ownAuthority()
    const { url } = await start({ tlsClientCa: ca }, { certificates })
    const headers = { origin: 'https://elsewhere.example.org', 'sec-fetch-site': 'cross-site' }
    expect(await ask(url, { as: 'echo', headers })).toMatchObject({ status: 403 })
  })

  test('serves only clients with a certificate if configured', async () => {
    const { url } = await start({ tlsClientCa: ownAuthority(), tlsRequireClient: true }, { certificates })
    expect(await ask(url, { as: 'echo' })).toMatchObject({ status: 200 })
    await expect(ask(url)).rejects.toThrow()
    await expect(ask(url, { as: 'stranger' })).rejects.toThrow()
  })

  test('serves the health check of the image where no probe has a certificate', async () => {
    const socket = `unix:${join(keys?.path ?? '', 'health')}`
    const addresses = [{ addr: socket, serves: 'health', tls: false }]
    const { url } = await start({ tlsClientCa: ownAuthority(), tlsRequireClient: true, addresses })
    const check = (env: Record<string, string>): SpawnSyncReturns<string> =>
      spawnSync(process.execPath, [HEALTH_CHECK], {
        env: { TIDEGATE_SERVER_ADDR: new URL(url).host, ...env },
        encoding: 'utf8',
      })
    const refused = check({})
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('set HEALTH_CHECK_ADDR')
    expect(check({ HEALTH_CHECK_ADDR: socket })).toMatchObject({ status: 0, stderr: '' })
    expect(check({ TIDEGATE_SERVER_ADDRESSES: JSON.stringify(addresses) })).toMatchObject({ status: 0 })
  })

  test.each([1, 2])('builds links that speak TLS, with %d processes', async (workers) => {
    const service = await start({ workers })
    await untilAllServe(service, workers)
    const lookup = '/platformservice/v6/applications/shop/pipeline/p/reference/1/gates/Verify'
    const asked = Array.from({ length: 4 * workers }, () =>
      ask(service.url, { method: 'GET', path: `${lookup}?type=verification` }),
    )
    for (const { text } of await Promise.all(asked)) expect(text).toContain(`"gateUrl":"${service.url}/`)
    expect(service.url).toMatch(/^https:/)
  })

  test.each([1, 2])('shows a new certificate without cutting anybody, with %d processes', async (workers) => {
    const service = await start({ workers })
    await untilAllServe(service, workers)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect(await ask(service.url, { agent })).toMatchObject({ shownBy: 'tidegate' })
    writeFileSync(inWorkspace('tls.key'), 'no key')
    await untilLogged(
      service,
      ({ msg }) => msg === 'changed TLS files cannot be used; the previous ones stay in use',
    )
    expect(await ask(service.url)).toMatchObject({ status: 200, shownBy: 'tidegate' })
    const health = await ask(service.url, { path: '/health?plugins', method: 'GET' })
    expect(JSON.parse(health.text)).toMatchObject({ plugins: { tls: { state: 'WARN' } } })
    install('renewed')
    await untilLogged(service, ({ msg }) => msg === 'new certificate in use')
    await waitUntil(
      async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask(service.url)))
        return answers.every(({ shownBy }) => shownBy === 'tidegate renewed') || undefined
      },
      () => 'a process shows the old certificate still',
    )
    expect(await ask(service.url, { agent })).toMatchObject({ status: 200, shownBy: 'tidegate' })
    agent.destroy()
  })

  test('answers every request of every connection before it stops, however many are half open', async () => {
    // The drain time is longer than this test may take.
    const service = await start({ drainSeconds: 600 })
    const { hostname, port } = new URL(service.url)
    const silent = Array.from({ length: 10 }, () => connectPlainly(Number(port), hostname))
    for (const socket of silent) socket.on('error', () => undefined).resume()
    const idle = Array.from({ length: 5 }, () => open(service.url))
    for (const socket of idle) socket.on('error', () => undefined).resume()
    await Promise.all(idle.map(outcomeOf))
    const calls = Array.from({ length: 20 }, (_, n) =>
      callUntilClosed(service.url, CALL, n % 7, () => open(service.url)),
    )
    for (let n = 0; n < 10; n += 1) await ask(service.url)
    expect(await service.end('SIGTERM')).toBe(0)
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter(({ isCut, answered }) => isCut || answered === 0)).toEqual([])
  })

  test('does not start with a key of another certificate, with a message', async () => {
    const given = settings({}, {})
    copyFileSync(files.echo.key, inWorkspace('tls.key'))
    const { code, output } = await failToServe(given)
    expect(code).not.toBe(0)
    expect(output).toContain('it is not the private key of the certificate in')
  })

  test('serves the command line, with a certificate in place of a token', async () => {
    const ca = ownAuthority()
    const { url } = await start({ tlsClientCa: ca }, { certificates })
    const named = ['--url', url.replace('127.0.0.1', 'localhost'), '--ca-file', ca]
    const { certificate, key } = files.auditor
    const shownBy = ['--client-certificate', certificate, '--client-key', key]
    const asked = await runTidegate(['audit', 'search', ...named, ...shownBy, '--format', 'json'])
    expect(asked).toMatchObject({ exitCode: 0 })
    const doctor = await runTidegate([
      'doctor',
      ...named,
      ...shownBy,
      '--config',
      inWorkspace('tidegate.json'),
    ])
    expect(doctor.stdout).toContain('valid until')
    expect(doctor.stdout).toContain(`responds at https://localhost`)
  })
})

async function untilAllServe({ log, logText }: TidegateProcess, workers: number): Promise<void> {
  await waitUntil(
    () => log().filter(({ msg }) => msg === 'worker process serves').length === workers - 1 || undefined,
    () => `workers do not serve: ${logText()}`,
  )
}
