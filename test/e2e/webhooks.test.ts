import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { checkWebhookSignature } from '../../src/events/relay-webhook.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const SECRETS: Readonly<Record<string, string>> = { github: 'of-github', bitbucket: 'of-bitbucket' }
const HEADERS: Readonly<Record<string, readonly [signature: string, id: string]>> = {
  github: ['x-hub-signature-256', 'x-github-delivery'],
  bitbucket: ['x-hub-signature', 'x-request-uuid'],
}
/** Spaces and an umlaut: the bytes are signed and relayed unchanged. */
const BODY = Buffer.from('{ "ref" : "refs/heads/main",  "pusher":{"name":"Jörg"} }\n')

const workspace = makeWorkspace({
  'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n',
  ...SECRETS,
})
let gate: LoopbackServer
let tidegate: TidegateProcess
beforeAll(async () => {
  gate = await startLoopbackServer((_, response) => respondJson(response, 200, {}))
  const secret = (host: string) => ({ file: join(workspace.path, host) })
  tidegate = await startTidegate({
    workspace,
    config: {
      orchestrator: {
        gateUrl: gate.origin,
        githubSecret: secret('github'),
        bitbucketSecret: secret('bitbucket'),
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await gate.close()
  workspace.remove()
})

function sign(secret: string, body: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`
}

function deliver(
  host: string,
  id: string,
  signature: string | undefined,
  body = BODY,
  more: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const [header, idHeader] = HEADERS[host] ?? ['', '']
  return ask(tidegate.url, {
    path: `/webhooks/git/${host}`,
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-event-key': 'repo:push',
      [idHeader]: id,
      ...(signature !== undefined && { [header]: signature }),
      ...more,
    },
  })
}

describe.each(Object.keys(SECRETS))('a webhook of %s', (host) => {
  const secret = SECRETS[host] ?? ''

  test('is passed on once, byte for byte, with its signature', async () => {
    const signature = sign(secret, BODY)
    expect((await deliver(host, 'd1', signature)).status).toBe(200)
    expect((await deliver(host, 'd1', signature)).status).toBe(200)
    const relayed = await waitUntil(
      () => gate.seen.find(({ url }) => url === `/webhooks/git/${host}`),
      () => 'the webhook is not passed on',
    )
    expect(relayed.body).toBe(BODY.toString())
    expect(relayed.headers[HEADERS[host]?.[0] ?? '']).toBe(signature)
    expect(relayed.headers['x-gitlab-token']).toBeUndefined()
    expect(gate.seen.filter(({ url }) => url === `/webhooks/git/${host}`)).toHaveLength(1)
  })

  test.each([
    ['none', undefined],
    ['that of another secret', sign('another', BODY)],
    ['that of another body', sign(secret, Buffer.from(JSON.stringify(JSON.parse(BODY.toString()))))],
    ['one by SHA-1', sign(secret, BODY, 'sha1')],
    ['one without its algorithm', sign(secret, BODY).slice('sha256='.length)],
    ['the beginning of it', sign(secret, BODY).slice(0, -1)],
    ['that of an empty secret', sign('', BODY)],
  ])('is refused with the signature: %s', async (_, signature) => {
    const { status, text } = await deliver(host, 'd2', signature)
    expect([status, text]).toEqual([403, expect.stringContaining(`orchestrator.${host}Secret`)])
  })

  test.each([
    ['in ISO-8859-1', Buffer.from(BODY.toString(), 'latin1'), {}],
    ['compressed', gzipSync(BODY), { 'content-encoding': 'gzip' }],
  ])('that would not fit its signature any more is refused: %s', async (_, body, more) => {
    const { status, text } = await deliver(host, 'd4', sign(secret, body), body, more)
    expect([status, text]).toEqual([400, expect.stringContaining('A signed delivery must be UTF-8')])
  })

  test('that is not JSON is refused, although it is signed', async () => {
    const body = Buffer.from('payload=%7B%7D')
    expect((await deliver(host, 'd3', sign(secret, body), body)).status).toBe(400)
  })
})

test('of a host without a secret none are taken', async () => {
  const answer = await ask(tidegate.url, { path: '/webhooks/webhook/gitlab', body: '{}' })
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('orchestrator.webhookToken')])
})

test('a signature is of these bytes alone, and of this secret', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 })
  fc.assert(
    fc.property(bytes, fc.string({ minLength: 1 }), fc.nat(), (body, key, place) => {
      const secret = { secret: new Secret(key), key: 'a.key', header: 'A-Header' }
      const signature = sign(key, body)
      expect(() => checkWebhookSignature(secret, signature, body)).not.toThrow()
      const changed = Uint8Array.from(body)
      changed[place % body.length] = ((body[place % body.length] ?? 0) + 1) % 256
      expect(() => checkWebhookSignature(secret, signature, changed)).toThrow('missing or wrong')
      const other = { ...secret, secret: new Secret(`${key}x`) }
      expect(() => checkWebhookSignature(other, signature, body)).toThrow('missing or wrong')
    }),
    { numRuns: 100 },
  )
})
