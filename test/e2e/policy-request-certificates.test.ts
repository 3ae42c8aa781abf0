import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = `package p

import rego.v1

url := sprintf("https://localhost:%d/", [input.port])
request := object.union({"method": "get", "url": url, "raise_error": false}, input.parameters)
answer := http.send(request)
who := answer.body.subject
allow if who == "deployer"
failed := answer.error.code
`

const describeWithCertificates = describe.skipIf(!canMakeCertificates)

describeWithCertificates(
  'http.send to a server that requires a client certificate (skipped without openssl)',
  () => {
    const workspace = makeWorkspace({ 'policies/p.rego': POLICY })
    const pems: Record<string, string> = {}
    let server: Server
    let service: TidegateProcess

    beforeAll(async () => {
      const own = new CertificateAuthority(workspace.path)
      const { certificate, key } = own.make('server', {
        subject: '/CN=inventory',
        names: 'DNS:localhost,DNS:inventory.test',
      })
      const client = own.make('client', { subject: '/CN=deployer' })
      const stranger = new CertificateAuthority(workspace.path, 'others').make('stranger', {
        subject: '/CN=deployer',
      })
      const read = (file: string): string => readFileSync(file, 'utf8')
      Object.assign(pems, {
        ...{ ca: read(own.certificate), cert: read(client.certificate), key: read(client.key) },
        ...{ strangeCert: read(stranger.certificate), strangeKey: read(stranger.key) },
      })
      server = createServer(
        {
          cert: read(certificate),
          key: read(key),
          ca: pems['ca'],
          requestCert: true,
          rejectUnauthorized: true,
        },
        (request, response) => {
          const { socket } = request
          if (!(socket instanceof TLSSocket)) throw new Error('it is a connection with keys')
          response.setHeader('content-type', 'application/json')
          response.end(
            JSON.stringify({ subject: socket.getPeerCertificate().subject.CN, asked: socket.servername }),
          )
        },
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const config = { policies: { requests: { allowedHosts: ['localhost'] } } }
      service = await startTidegate({ workspace, config })
    })
    afterAll(async () => {
      await service.end('SIGTERM')
      server.closeAllConnections()
      server.close()
      workspace.remove()
    })

    async function ask(
      rule: string,
      parameters: Record<string, unknown>,
    ): Promise<{ status: number; body: unknown }> {
      const { port } = server.address() as AddressInfo
      const body = JSON.stringify({ input: { port, parameters } })
      const response = await fetch(`${service.url}/v1/data/p/${rule}`, { method: 'POST', body })
      return { status: response.status, body: await response.json() }
    }
    const known = (): Record<string, unknown> => ({
      ...{ tls_ca_cert: pems['ca'], tls_client_cert: pems['cert'], tls_client_key: pems['key'] },
    })

    test('shows the certificate of the policy, to a server that the policy knows', async () => {
      expect(await ask('allow', known())).toMatchObject({ status: 200, body: { result: true } })
      expect(await ask('answer/body', { ...known(), tls_server_name: 'inventory.test' })).toMatchObject({
        body: { result: { subject: 'deployer', asked: 'inventory.test' } },
      })
      expect(await ask('who', { ...known(), tls_use_system_certs: true })).toMatchObject({
        body: { result: 'deployer' },
      })
    })

    test('has no certificate for a client that sends none', async () => {
      expect(await ask('allow', known())).toMatchObject({ body: { result: true } })
      const nameless = { tls_ca_cert: pems['ca'] }
      expect(await ask('failed', nameless)).toMatchObject({
        body: { result: 'eval_http_send_network_error' },
      })
    })

    test.each<[what: string, parameters: () => Record<string, unknown>]>([
      ['a server of an unknown authority', () => ({ ...known(), tls_ca_cert: undefined })],
      ['a server of another name', () => ({ ...known(), tls_server_name: 'elsewhere.test' })],
      [
        'a certificate that the server does not know',
        () => ({ ...known(), tls_client_cert: pems['strangeCert'], tls_client_key: pems['strangeKey'] }),
      ],
    ])('fails for %s, and allows nothing', async (_what, parameters) => {
      expect(await ask('failed', parameters())).toMatchObject({
        body: { result: 'eval_http_send_network_error' },
      })
      const { status, body } = await ask('allow', parameters())
      expect(status).toBe(200)
      expect(body).not.toHaveProperty('result')
    })

    test('fails for a key that is none, and one of another certificate', async () => {
      for (const key of ['no key', pems['strangeKey']]) {
        const { body } = await ask('answer', { ...known(), tls_client_key: key })
        expect(body).toMatchObject({
          result: { status_code: 0, error: { code: expect.any(String) as unknown } },
        })
      }
    })

    test.each([
      ['tls_insecure_skip_verify', true],
      ['tls_ca_cert_file', 'authority.pem'],
      ['tls_client_cert_file', 'client.pem'],
      ['tls_client_key_env_variable', 'HOME'],
    ])('ends the decision if %s is requested', async (name, value) => {
      expect(await ask('allow', { ...known(), [name]: value })).toMatchObject({
        status: 500,
        body: { code: 'evaluation_request_refused', message: expect.stringContaining(name) as unknown },
      })
    })

    test('is counted by host and outcome', async () => {
      await ask('allow', known())
      const cached = { ...known(), force_cache: true, force_cache_duration_seconds: 60 }
      await ask('allow', cached)
      await ask('allow', cached)
      const figures = await (await fetch(`${service.url}/metrics`)).text()
      expect(figures).toMatch(/^tidegate_policy_requests_total\{host="localhost",outcome="2xx"\} \d+$/m)
      expect(figures).toMatch(/^tidegate_policy_requests_total\{host="localhost",outcome="failed"\} \d+$/m)
      expect(figures).toMatch(/^tidegate_policy_request_duration_seconds_count\{host="localhost"\} \d+$/m)
      expect(figures).toMatch(/^tidegate_policy_request_cache_total\{outcome="miss"\} 1$/m)
      expect(figures).toMatch(/^tidegate_policy_request_cache_total\{outcome="hit"\} 1$/m)
    })
  },
)
