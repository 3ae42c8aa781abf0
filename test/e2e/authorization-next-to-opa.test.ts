import { readFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import { newerOpa } from '../support/compilers.js'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { OpaServer } from '../support/opa-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICIES = new URL('../cases/http/authorization', import.meta.url).pathname
const workspace = makeWorkspace()
afterAll(workspace.remove)

interface Sent {
  readonly method: string
  readonly path: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function send(url: string, { method, path, token, headers, body }: Sent): Promise<Answered> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return ask(url, { method, path, headers: { ...type, ...authorization, ...headers }, body })
}

describe('next to OPA', () => {
  let opa: OpaServer
  let tidegate: TidegateProcess
  beforeAll(async () => {
    const opaConfig = `${workspace.path}/opa.yaml`
    workspace.write({ 'opa.yaml': 'default_authorization_decision: /system/authz/allow\n' })
    const flags = ['--authorization', 'basic', '--authentication', 'token', '--skip-known-schema-check']
    ;[opa, tidegate] = await Promise.all([
      startOpa([...flags, POLICIES], newerOpa()),
      startTidegate({
        workspace,
        directories: [POLICIES],
        args: ['--authorization', 'basic', '--opa-config', opaConfig],
      }),
    ])
  })
  afterAll(async () => {
    await Promise.all([opa.stop(), tidegate.end('SIGTERM')])
  })

  const BODY = '{"input":{"user":"ana"}}'
  test.each<Sent>([
    { method: 'GET', path: '/v1/data/app/public' },
    { method: 'GET', path: '/v1/data/app/secret' },
    { path: '/v1/data/app/secret', method: 'POST', body: BODY },
    { path: '/v1/data/echo', method: 'POST', body: BODY, token: 'a.b-c' },
    { method: 'GET', path: '/v1/data/echo?a=1&a=2&b&c=%2F', headers: { 'x-FOO-bar': '1', ACCEPT: '*/*' } },
    { method: 'GET', path: '/v1/data/echo/a%20b/%C3%A9' },
    { path: '/v0/data/echo', method: 'POST', body: '{"a":[1,2.50]}' },
    { path: '/v1/data/echo', method: 'PUT', body: BODY },
    { path: '/v1/policies/echo', method: 'PUT', body: 'package a' },
    { path: '/v1/data/app/secret', method: 'POST', token: 'root-token', body: '{"input":{}}' },
  ])('$method $path gets the same response', async (sent) => {
    const [ours, theirs] = await Promise.all([send(tidegate.url, sent), send(opa.url, sent)])
    expect(ours.status).toBe(theirs.status)
    const shown = ({ text }: Answered): unknown => {
      const body = JSON.parse(text) as Record<string, unknown>
      const message = typeof body['message'] === 'string' ? body['message'] : ''
      return message.startsWith('{') ? JSON.parse(message) : { ...body, decision_id: undefined }
    }
    expect(shown(ours)).toEqual(shown(theirs))
  })
})

test.skipIf(!canMakeCertificates)('the policy sees the client certificate as OPA does', async () => {
  const keys = makeWorkspace()
  const authority = new CertificateAuthority(keys.path)
  const server = authority.make('server', { subject: '/CN=server', names: 'DNS:localhost,IP:127.0.0.1' })
  const client = authority.make('client', {
    subject: '/O=Example, Inc./CN=client1',
    names: 'DNS:client.example',
  })
  const tidegate = await startTidegate({
    workspace: keys,
    directories: [POLICIES],
    args: ['--authorization', 'basic'],
    config: {
      server: { tlsCertificate: server.certificate, tlsKey: server.key, tlsClientCa: authority.certificate },
      auth: { certificates: [{ name: 'client', roles: ['orchestrator'], san: 'DNS:client.example' }] },
    },
  })
  const text = await new Promise<string>((resolve, reject) => {
    const agent = new Agent({
      ca: readFileSync(authority.certificate),
      cert: readFileSync(client.certificate),
      key: readFileSync(client.key),
    })
    startRequest(new URL('/v1/data/echo', tidegate.url), { agent }, (answer) => {
      let read = ''
      answer.on('data', (chunk: Buffer) => (read += chunk.toString()))
      answer.once('end', () => resolve(read))
    })
      .once('error', reject)
      .end()
  })
  const { message } = JSON.parse(text) as { message: string }
  expect(JSON.parse(message)).toMatchObject({
    identity: 'CN=client1,O=Example\\, Inc.',
    caller: { name: 'client', roles: ['orchestrator'] },
    client_certificates: [{ DNSNames: ['client.example'], Subject: { CommonName: 'client1' } }],
  })
  await tidegate.end('SIGTERM')
  keys.remove()
})
