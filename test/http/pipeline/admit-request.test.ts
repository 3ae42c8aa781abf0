import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { makeAdmission, makeIsKnownHost } from '../../../src/http/pipeline/admit-request.js'
import type { HostNames } from '../../../src/http/pipeline/admit-request.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const LOOPBACK: HostNames = { listenHost: '127.0.0.1', urls: [], allowedHosts: [] }

interface Setting extends Partial<HostNames> {
  readonly needsKnownHost?: boolean
  readonly isOpen?: boolean
  readonly publicUrl?: string
}

/** Returns the code of the refusal, or `let in`. */
function outcomeOf(setting: Setting, headers: Record<string, string>, method = 'POST'): string {
  const { needsKnownHost = true, isOpen = true, publicUrl, ...names } = setting
  const host = { ...LOOPBACK, ...(publicUrl !== undefined && { urls: [publicUrl] }), ...names }
  const { admit } = makeAdmission({
    isKnownHost: makeIsKnownHost(host),
    needsKnownHost,
    isOpen,
    publicUrl,
  })
  try {
    admit(new FakeExchange({ method, headers }))
    return 'let in'
  } catch (raw) {
    return (raw as { code: string }).code
  }
}

describe('the name that a request asks for', () => {
  test.each([
    'localhost',
    'LocalHost.:80',
    'a.b.localhost:8181',
    '127.0.0.1',
    '127.255.0.3:9',
    '[::1]',
    '[::1]:8181',
    '[::ffff:127.0.0.1]',
  ])('%s is always the service', (host) => {
    expect(outcomeOf({}, { host })).toBe('let in')
  })

  test.each([
    '',
    'rebound.test',
    'localhost.rebound.test',
    '127.0.0.1.rebound.test',
    'notlocalhost',
    'localhost@rebound.test',
    'rebound.test#localhost',
    'localhost, rebound.test',
    '0.0.0.0',
    '10.0.0.1',
    '[::]',
    '[fe80::1]',
    '[localhost]',
    'localhost:80:80',
    ':8181',
  ])('%j is not, on loopback', (host) => {
    expect(outcomeOf({}, { host })).toBe('host_not_allowed')
  })

  test('no name of the internet is one, whatever it looks like', () => {
    fc.assert(
      fc.property(fc.domain(), fc.option(fc.nat(65_535)), (name, port) => {
        fc.pre(!name.toLowerCase().endsWith('localhost'))
        expect(outcomeOf({}, { host: port === null ? name : `${name}:${port}` })).toBe('host_not_allowed')
      }),
    )
  })

  test.each([
    [{ publicUrl: 'https://tidegate.example.org/x' }, 'tidegate.example.org'],
    [{ publicUrl: 'https://[fd00::1]:8443' }, '[fd00::1]:8443'],
    [{ allowedHosts: ['Tidegate'] }, 'tidegate:8181'],
    [{ allowedHosts: ['*.Example.org'] }, 'A.b.example.org'],
    [{ allowedHosts: ['10.1.2.3'] }, '10.1.2.3'],
    [{ allowedHosts: ['*'] }, 'anything.test'],
    [{ listenHost: 'tidegate.internal' }, 'tidegate.internal:8181'],
    [{ listenHost: '0.0.0.0' }, '10.1.2.3:8181'],
    [{ listenHost: '::' }, '[fd00::7]:8181'],
  ])('where the configuration says %j, %s is one', (names, host) => {
    expect(outcomeOf(names, { host })).toBe('let in')
  })

  test.each([
    [{ allowedHosts: ['*.example.org'] }, 'example.org'],
    [{ allowedHosts: ['*.example.org'] }, 'badexample.org'],
    [{ allowedHosts: ['tidegate'] }, 'tidegate.example.org'],
    [{ listenHost: '0.0.0.0' }, 'rebound.test'],
  ])('where the configuration says %j, %s is none', (names, host) => {
    expect(outcomeOf(names, { host })).toBe('host_not_allowed')
  })

  test('a request of HTTP/1.0 without a Host header is let in: no browser sends one', () => {
    expect(outcomeOf({}, {})).toBe('let in')
  })
})

describe('a request that a page in a browser sends', () => {
  const host = 'localhost:8181'
  test.each([
    [{ host, origin: 'http://localhost:8181' }, 'let in'],
    [{ host: 'LOCALHOST:8181', origin: 'http://localhost:8181' }, 'let in'],
    [{ host, origin: 'https://localhost:8181' }, 'let in'],
    [{ host, origin: 'http://localhost' }, 'cross_origin'],
    [{ host, origin: 'http://localhost:81810' }, 'cross_origin'],
    [{ host, origin: 'http://elsewhere.test' }, 'cross_origin'],
    [{ host, origin: 'null' }, 'cross_origin'],
    [{ host, origin: '' }, 'cross_origin'],
    // Orchestrator stages send their names; browsers never do.
    [{ host, origin: 'OpsMxPolicyStagePlugin' }, 'let in'],
    [{ host, origin: 'OpsMxPolicyStagePlugin', 'sec-fetch-site': 'cross-site' }, 'cross_origin'],
    [{ host, 'sec-fetch-site': 'none' }, 'let in'],
    [{ host, 'sec-fetch-site': 'same-origin' }, 'let in'],
    [{ host, 'sec-fetch-site': 'cross-site' }, 'cross_origin'],
    [{ host, origin: 'http://localhost:8181', 'sec-fetch-site': 'same-site' }, 'cross_origin'],
    [{ host, origin: 'http://elsewhere.test', authorization: 'Bearer x' }, 'let in'],
  ])('%j: %s', (headers, outcome) => {
    expect(outcomeOf({}, headers)).toBe(outcome)
    expect(outcomeOf({}, headers, 'GET')).toBe('let in')
  })

  test('is let in from the public URL, whatever name a proxy asks by', () => {
    const setting = { publicUrl: 'https://tidegate.example.org/' }
    expect(outcomeOf(setting, { host, origin: 'https://tidegate.example.org' })).toBe('let in')
    expect(outcomeOf(setting, { host, origin: 'http://tidegate.example.org' })).toBe('cross_origin')
  })

  test('must name a known host even where programs need not', () => {
    const setting = { needsKnownHost: false, listenHost: '0.0.0.0' }
    const rebound = { host: 'rebound.test', origin: 'http://rebound.test' }
    expect(outcomeOf(setting, { host: 'tidegate.somewhere' })).toBe('let in')
    expect(outcomeOf(setting, rebound)).toBe('host_not_allowed')
    expect(outcomeOf({ ...setting, isOpen: false }, rebound)).toBe('let in')
  })
})
