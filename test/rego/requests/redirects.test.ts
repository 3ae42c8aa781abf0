import { expect, test } from 'vitest'

import type { OutboundRequest } from '../../../src/lib/outbound/outbound-client.js'
import { RequestAllowance } from '../../../src/rego/requests/request-allowance.js'
import { sendRequest } from '../../../src/rego/requests/send-request.js'
import { LOOPBACK_REQUESTS } from '../../support/policy-requests.js'

const TLS = { usesSystemCertificates: false, ca: undefined, certificate: undefined, key: undefined }
const HEADERS = [
  ['Authorization', 'Bearer x'],
  ['Host', 'virtual.invalid'],
  ['Accept', 'a/b'],
] as const

/** The requests that come of one that is redirected from place to place. */
async function followed(...places: readonly string[]): Promise<readonly OutboundRequest[]> {
  const sent: OutboundRequest[] = []
  const send = (request: OutboundRequest) => {
    const next = places[sent.push(request)]
    const headerValues = next === undefined ? {} : { location: [next] }
    const status = next === undefined ? 200 : 302
    return Promise.resolve({ status, headerValues, reason: '', headers: {}, body: Buffer.alloc(0) })
  }
  const allowance = new RequestAllowance(LOOPBACK_REQUESTS, new AbortController().signal)
  await sendRequest(
    {
      ...{ method: 'GET', url: places[0] ?? '', headers: HEADERS, body: '', maxRetries: 0 },
      ...{ timeoutMs: undefined, followsRedirects: true, tls: { ...TLS, serverName: undefined } },
      caching: { isShared: false, forcedSeconds: undefined },
    },
    { clients: { send }, allowance, maxResponseBytes: 1000, requested: () => undefined },
  )
  return sent
}

test.each([
  ['https://a.invalid/1', '/2', true],
  ['https://a.invalid/1', 'https://a.invalid/2', true],
  ['http://a.invalid/1', 'https://a.invalid/2', true],
  ['https://a.invalid/1', 'http://a.invalid/2', false],
  ['https://a.invalid/1', 'https://a.invalid:8443/2', false],
  ['https://a.invalid/1', 'https://b.invalid/2', false],
])('redirected from %s to %s, credentials and the Host go along: %s', async (from, to, goAlong) => {
  const [, second] = await followed(from, to)
  expect(second?.url).toBe(new URL(to, from).href)
  expect(second?.headers?.['authorization'] !== undefined).toBe(goAlong)
  expect(second?.headers?.['host'] !== undefined).toBe(goAlong)
  expect(second?.headers?.['accept']).toBe('a/b')
})

test('credentials that were left behind do not come back with the first host', async () => {
  const [, , third] = await followed('https://a.invalid/', 'https://b.invalid/', 'https://a.invalid/')
  expect(third?.headers?.['authorization']).toBeUndefined()
})
