import { afterEach, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { makeToolConnector } from '../../../src/gates/connectors/make-tool-connector.js'
import { wholeAnswer } from '../../../src/analysis/sources/answers/answer-reading.js'
import { makeSourceConnection } from '../../../src/analysis/sources/answers/source-connection.js'
import { makeOutboundClient } from '../../../src/lib/outbound/outbound-client.js'
import type { OutboundRequest } from '../../../src/lib/outbound/outbound-client.js'
import { accountAt, instantContext } from '../../support/connector-account.js'
import { startLoopbackServer } from '../../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../../support/loopback-server.js'

const KEYED_PATH = '/hunter2-in-the-path?access_token=hunter2'
const OPEN = { allowLoopback: true, allowPrivate: true }
const NOBODY = 'http://127.0.0.1:9'

let server: LoopbackServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function serve(respond: Respond): Promise<string> {
  server = await startLoopbackServer(respond)
  return server.origin
}

/** All that an error says, its causes too, as a log might show it. */
function wordsOf(raw: unknown): string {
  if (!(raw instanceof Error)) return ''
  const details = raw instanceof AppError ? JSON.stringify(raw.details) : ''
  return [raw.message, raw.stack ?? '', details, wordsOf(raw.cause)].join('\n')
}

describe('a request that fails repeats neither the path nor the query of its URL', () => {
  const silent: Respond = () => undefined
  const endless: Respond = (_, response) => response.end('x'.repeat(5000))
  const broken: Respond = (_, response) => response.destroy()

  test.each([
    ['times out', silent, {}],
    ['is given up', silent, { signal: AbortSignal.abort() }],
    ['brings too much', endless, {}],
    ['breaks off', broken, {}],
    ['cannot be sent', silent, { headers: { 'x-key': 'a\r\nhunter2' } }],
  ] as const)('when it %s', async (_, respond, more) => {
    const origin = await serve(respond)
    const request: OutboundRequest = {
      method: 'GET',
      url: `${origin}${KEYED_PATH}`,
      timeoutMs: respond === silent ? 50 : 5000,
      maxResponseBytes: 1000,
      ...more,
    }
    const client = makeOutboundClient(OPEN)
    const error = await client.send(request).catch((raised: unknown) => raised)
    await client.close()
    expect(wordsOf(error)).toContain(origin)
    expect(wordsOf(error)).not.toContain('hunter2')
  })

  test.each([
    ['nobody listens', `${NOBODY}${KEYED_PATH}`, OPEN],
    ['it has credentials', 'http://bot:hunter2@127.0.0.1:9/', OPEN],
    ['its host is not allowed', `${NOBODY}${KEYED_PATH}`, { ...OPEN, allowedHosts: ['h.example'] }],
    ['its address is not allowed', `${NOBODY}${KEYED_PATH}`, { allowLoopback: false, allowPrivate: false }],
    ['it is no URL', 'hunter2', OPEN],
  ])('when %s', async (_, url, policy) => {
    const client = makeOutboundClient(policy)
    const request = { method: 'GET', url, timeoutMs: 5000, maxResponseBytes: 1000 } as const
    const error = await client.send(request).catch((raised: unknown) => raised)
    await client.close()
    expect(wordsOf(error)).toContain('Error')
    expect(wordsOf(error)).not.toContain('hunter2')
  })
})

describe('a tool with a key in the query of its URL', () => {
  const repeats =
    (status: number): Respond =>
    ({ url }, response) =>
      response.writeHead(status, { location: url }).end(`Cannot GET ${url}`)

  test.each([200, 302, 400, 401, 404, 500])(
    'fails without repeating it when it answers %i',
    async (status) => {
      const origin = await serve(repeats(status))
      const connector = makeToolConnector('http', accountAt(`${origin}/images/{id}?api_key=hunter2`))
      const request = { connectorType: 'HTTP', parameters: { id: ['shop'] } }
      const evidence = await connector.fetch(request, instantContext())
      expect(evidence.state).toBe('failed')
      expect(JSON.stringify(evidence)).not.toContain('hunter2')
    },
  )
})

test.each([200, 400, 500])(
  'a source that repeats a query with credentials in its answer %i is quoted without',
  async (status) => {
    const origin = await serve(({ url }, response) => {
      response.writeHead(status).end(`parse error in ${decodeURIComponent(url)}`)
    })
    const client = makeOutboundClient(OPEN)
    const parts = { client, now: () => 0, timeOfDay: () => 0, wait: () => Promise.resolve(), random: () => 0 }
    const settings = {
      name: 'metrics',
      url: origin,
      headers: {},
      requestTimeoutMs: 5000,
      maxResponseBytes: 1000,
    }
    const connection = makeSourceConnection(settings, parts)
    const search = { query: 'http://bot:hunter2@h.example/?access_token=hunter2' }
    const reply = await connection.send(
      { method: 'GET', path: '/api', search },
      connection.startBudget({ budgetMs: 5000 }),
      wholeAnswer,
    )
    await client.close()
    expect(JSON.stringify(reply)).toContain('[redacted]')
    expect(JSON.stringify(reply)).not.toContain('hunter2')
  },
)
