import { describe, expect, test } from 'vitest'

import type { Exchange } from '../../../src/http/exchange/exchange.js'
import { baseUrl } from '../../../src/http/exchange/base-url.js'

/** A request with this Host header. */
const asked = (host: string | undefined, isTls = false) =>
  ({ header: () => host, isTls }) as unknown as Exchange

describe('the URL that links are built with', () => {
  test('is the configured one, whatever the caller says', () => {
    expect(baseUrl(asked('evil.example'), 'https://tidegate.example.org')).toBe(
      'https://tidegate.example.org',
    )
  })

  test.each(['localhost:8181', 'tidegate.svc.cluster.local', '127.0.0.1:80', '[::1]:8181', 'a_b-c.example'])(
    'is the host that the caller reached where none is configured: %s',
    (host) => {
      expect(baseUrl(asked(host), undefined)).toBe(`http://${host}`)
      expect(baseUrl(asked(host, true), undefined)).toBe(`https://${host}`)
    },
  )

  test.each([
    undefined,
    '',
    'a b',
    'a/b',
    'user@host',
    'host:port',
    'a\r\nx: y',
    'host:1:2',
    '[::1',
    'a?b',
    'a#b',
  ])('is not made of what could lead elsewhere: %j', (host) => {
    expect(() => baseUrl(asked(host), undefined)).toThrow('Set server.publicUrl')
  })
})
