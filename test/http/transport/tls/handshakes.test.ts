import { readFileSync } from 'node:fs'
import { connect as connectPlainly } from 'node:net'
import { connect } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'

import { makeServerLimits, startServer } from '../../../../src/http/server.js'
import type { RunningServer } from '../../../../src/http/server.js'
import type { TlsSettings } from '../../../../src/http/transport/tls/tls-settings.js'
import { CertificateAuthority, canMakeCertificates } from '../../../support/certificates.js'
import { waitUntil } from '../../../support/wait-until.js'
import { makeWorkspace } from '../../../support/workspace.js'
import type { Workspace } from '../../../support/workspace.js'

const CALL = 'POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'

let keys: Workspace | undefined
let settings: TlsSettings
let server: RunningServer | undefined

beforeAll(() => {
  if (!canMakeCertificates) return
  keys = makeWorkspace()
  const { certificate, key } = new CertificateAuthority(keys.path).make('server', { subject: '/CN=x' })
  settings = {
    certificate: readFileSync(certificate, 'utf8'),
    key: readFileSync(key, 'utf8'),
    clientCa: undefined,
    clientCrl: undefined,
    requiresClient: false,
    minVersion: '1.2',
  }
})

afterEach(async () => await server?.stop(0))

afterAll(() => keys?.remove())

async function start(maxConnections: number): Promise<{ port: number; host: string }> {
  server = await startServer((exchange) => exchange.send(200, 'fine'), {
    listenOn: { host: '127.0.0.1', port: 0 },
    limits: makeServerLimits(0, 1, maxConnections),
    tls: { settings, failed: () => undefined },
  })
  return { port: Number(new URL(server.url).port), host: '127.0.0.1' }
}

describe.skipIf(!canMakeCertificates)('a server that speaks TLS', () => {
  test('connections that agree on no keys give way to those that ask something', async () => {
    const to = await start(3)
    const kept = connect({ ...to, rejectUnauthorized: false })
    let received = ''
    kept.on('data', (chunk: Buffer) => (received += chunk.toString()))
    kept.write(CALL)
    await waitUntil(
      () => received.includes('200 OK') || undefined,
      () => `no answer: ${received}`,
    )
    const silent = Array.from({ length: 6 }, () =>
      connectPlainly(to)
        .on('error', () => undefined)
        .resume(),
    )
    const ended = silent.slice(0, 4).map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    await Promise.all(ended)
    received = ''
    kept.write(CALL)
    await waitUntil(
      () => received.includes('200 OK') || undefined,
      () => `no second answer: ${received}`,
    )
    kept.destroy()
    for (const socket of silent) socket.destroy()
  })

  test('one that takes too long for it does not hold up a stop', async () => {
    const to = await start(3)
    const silent = connectPlainly(to)
      .on('error', () => undefined)
      .resume()
    await new Promise((resolve) => silent.once('connect', resolve))
    const ended = new Promise((resolve) => silent.once('close', resolve))
    // Requests would be waited for longer than this test may take.
    await server?.stop(600_000)
    await ended
  })
})
