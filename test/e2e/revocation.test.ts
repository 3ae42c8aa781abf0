import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:https'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import type { CertificateFiles } from '../support/certificates.js'
import { runTidegate } from '../support/run-tidegate.js'
import { failToServe, startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { ServeSettings, TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const POLICY = 'package app\n\nimport rego.v1\n\nallow if input.a == 1\n'
const HOUR_MS = 3_600_000
/** Purpose of a token of the same service: it works regardless of certificates. */
const TOKEN = 'correct-horse-battery-staple'
const TOKEN_SHA256 = '87cbebfeebc05f7c54ac9336c4b4bbec831227a641951a4bde7edd56020f8590'

let keys: Workspace
let own: CertificateAuthority
let other: CertificateAuthority
let files: Record<'server' | 'echo' | 'auditor', CertificateFiles>
let workspace: Workspace | undefined
let tidegate: TidegateProcess | undefined

beforeAll(() => {
  if (!canMakeCertificates) return
  keys = makeWorkspace()
  own = new CertificateAuthority(keys.path)
  other = new CertificateAuthority(keys.path, 'other')
  files = {
    server: own.make('server', { subject: '/CN=tidegate', names: 'DNS:localhost,IP:127.0.0.1' }),
    echo: own.make('echo', { subject: '/O=Example/CN=echo' }),
    auditor: own.make('auditor', { subject: '/O=Example/CN=auditor' }),
  }
})
afterEach(async () => {
  await tidegate?.end('SIGKILL')
  workspace?.remove()
  tidegate = workspace = undefined
})
afterAll(() => {
  if (canMakeCertificates) keys.remove()
})

const at = (name: string): string => join(workspace?.path ?? '', name)

/** A service that requires client certificates that are not revoked. */
function settings(list: string, server: Record<string, unknown> = {}): ServeSettings {
  workspace = makeWorkspace({ 'policies/app.rego': POLICY, 'clients.crl': list })
  copyFileSync(files.server.certificate, at('tls.pem'))
  copyFileSync(files.server.key, at('tls.key'))
  const tls = { tlsCertificate: at('tls.pem'), tlsKey: at('tls.key'), tlsClientCa: own.certificate }
  const certificates = ['echo', 'auditor'].map((name) => ({
    ...{ name, roles: ['orchestrator'], subject: `CN=${name}, O=Example` },
  }))
  const tokens = [{ name: 'token', roles: ['orchestrator', 'auditor'], sha256: TOKEN_SHA256 }]
  return {
    workspace,
    config: {
      server: { ...tls, tlsClientCrl: at('clients.crl'), ...server },
      auth: { certificates, tokens },
    },
  }
}

async function start(list: string, server?: Record<string, unknown>): Promise<TidegateProcess> {
  tidegate = await startTidegate(settings(list, server))
  return tidegate
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** Requests a decision over a connection of an agent, or a new one. */
function ask(as?: 'echo' | 'auditor', agent = new Agent()): Promise<Answer> {
  const shown = as && { cert: readFileSync(files[as].certificate), key: readFileSync(files[as].key) }
  const authorization = as === undefined ? { authorization: `Bearer ${TOKEN}` } : {}
  const options = {
    ...{ method: 'POST', ca: readFileSync(own.certificate), servername: 'localhost', agent, ...shown },
    headers: { 'content-type': 'application/json', ...authorization },
  }
  return new Promise((resolve, reject) => {
    const request = startRequest(new URL('/v1/data/app/allow', tidegate?.url), options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    request.once('error', reject)
    request.end('{"input":{"a":1}}')
  })
}

async function warningOf(service: TidegateProcess): Promise<string> {
  const doctor = await runTidegate(['doctor', '--config', at('tidegate.json'), '--url', service.url])
  return doctor.stdout
}

describe.skipIf(!canMakeCertificates)('a client certificate that its authority may revoke (openssl)', () => {
  test('counts until it is in the list', async () => {
    await start(own.revoke([files.echo]))
    expect(await ask('auditor')).toMatchObject({ status: 200 })
    const refused = await ask('echo')
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('CERT_REVOKED')])
    expect(await ask()).toMatchObject({ status: 200 })
  })

  test.each([1, 2])('counts no longer on open connections either, with %d processes', async (workers) => {
    const service = await start(own.revoke([]), { workers })
    await waitUntil(
      () =>
        service.log().filter(({ msg }) => msg === 'worker process serves').length === workers - 1 ||
        undefined,
      () => 'workers do not serve',
    )
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const requestAll = () => Promise.all(agents.map(async (agent) => (await ask('echo', agent)).status))
    expect(await requestAll()).toEqual([200, 200, 200, 200])
    writeFileSync(at('clients.crl'), own.revoke([files.echo]))
    await waitUntil(
      async () => ((await requestAll()).every((status) => status === 403) ? true : undefined),
      () => 'a revoked certificate is taken still',
    )
    expect((await ask('echo', agents[0])).text).toContain('O=Example, CN=echo was revoked')
    expect(await ask('auditor')).toMatchObject({ status: 200 })
    await untilLogged(service, ({ msg }) => msg === 'new revocation lists in use')
    for (const agent of agents) agent.destroy()
  })

  test('is refused where the list of its authority has ended, or there is none', async () => {
    const ended = own.revoke([], new Date(Date.now() - HOUR_MS))
    const service = await start(ended)
    expect((await ask('auditor')).text).toContain('CRL_HAS_EXPIRED')
    expect(await ask()).toMatchObject({ status: 200 })
    await untilLogged(service, (line) => JSON.stringify(line).includes('a revocation list expired on'))
    expect(await warningOf(service)).toMatch(/WRONG +certificate: a revocation list expired on/)
    await service.end('SIGKILL')
    workspace?.remove()
    await start(other.revoke([]))
    expect((await ask('auditor')).text).toContain('UNABLE_TO_GET_CRL')
  })

  test('is refused on an open connection once the list ends', async () => {
    await start(own.revoke([], new Date(Date.now() + 8000)))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const first = await ask('auditor', agent)
    expect(first).toMatchObject({ status: 200 })
    const refused = await waitUntil(
      async () => {
        const { status, text } = await ask('auditor', agent)
        return status === 403 ? text : undefined
      },
      () => 'the list has ended, and the certificate is taken still',
    )
    expect(refused).toContain('the revocation list of its CA has expired')
    agent.destroy()
  })

  test('uses the previous list if the new one cannot be read or has expired', async () => {
    const service = await start(own.revoke([files.echo]))
    for (const bad of ['no list', own.revoke([], new Date(Date.now() - HOUR_MS))]) {
      writeFileSync(at('clients.crl'), bad)
      await waitUntil(
        () =>
          service
            .log()
            .some(({ error }) =>
              String(error).includes(bad === 'no list' ? 'no revocation list' : 'has already expired'),
            ) || undefined,
        () => 'an unusable list is not reported',
      )
      expect([(await ask('echo')).status, (await ask('auditor')).status]).toEqual([403, 200])
    }
  })

  test('is refused before its request if every client needs one', async () => {
    await start(own.revoke([files.echo]), { tlsRequireClient: true })
    await expect(ask('echo')).rejects.toThrow()
    expect(await ask('auditor')).toMatchObject({ status: 200 })
  })

  test('prevents the start of a service whose list cannot be read, with a message', async () => {
    const { code, output } = await failToServe(settings('no list'))
    expect(code).not.toBe(0)
    expect(output).toContain('it contains no revocation list in PEM')
  })

  test('uses the lists of several authorities', async () => {
    await start(own.revoke([files.echo]) + other.revoke([]))
    expect([(await ask('echo')).status, (await ask('auditor')).status]).toEqual([403, 200])
  })
})
