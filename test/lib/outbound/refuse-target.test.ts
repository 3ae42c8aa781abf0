import { describe, expect, test } from 'vitest'

import { PLATFORM_CREDENTIALS, refuseAddress } from '../../../src/lib/outbound/address-policy.js'
import { makeCheckedLookup } from '../../../src/lib/outbound/checked-lookup.js'
import { refuseTarget } from '../../../src/lib/outbound/refuse-target.js'

const STRICT = { allowLoopback: false, allowPrivate: false }
const OPEN = { allowLoopback: true, allowPrivate: true }

const LISTED = {
  ...STRICT,
  allowedHosts: ['gate.example.org', '*.Apps.example.org', '203.0.114.7', '2600:db8::7'],
}
const NEVER = [
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.1.1/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://0.0.0.0/',
  'http://0/',
  'http://255.255.255.255/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://[::]/',
  'http://[fe80::1]/',
  'http://[ff02::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fd00:ec2::23]/',
  'http://[fd20:ce::254]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[::127.0.0.1]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://0xA9FEA9FE/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://169.254.169.254./',
]
const LOOPBACK = [
  'http://127.0.0.1/',
  'http://127.9.9.9/',
  'http://127.1/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://2130706433/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://localhost:8080/',
  'http://LOCALHOST./',
  'http://gate.localhost/',
  'http://１２７.0.0.1/',
]
const PRIVATE = [
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://[fd12:3456::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://167772161/',
]
const PUBLIC = [
  'http://93.184.216.34/',
  'https://[2606:4700::1111]/',
  'https://[::ffff:93.184.216.34]/',
  'https://example.org/path?query#fragment',
  'http://172.32.0.1/',
  'http://localhost.example.org/',
]

describe('a target', () => {
  test.each(NEVER)('%s is always refused', (url) => {
    expect(refuseTarget(url, OPEN)).toMatch(/never allowed$/)
  })

  test.each(LOOPBACK)('%s is tried only where loopback is allowed', (url) => {
    expect(refuseTarget(url, OPEN)).toBeUndefined()
    expect(refuseTarget(url, { allowLoopback: false, allowPrivate: true })).toMatch(/is a loopback address/)
  })

  test.each(PRIVATE)('%s is tried only where private ranges are allowed', (url) => {
    expect(refuseTarget(url, OPEN)).toBeUndefined()
    expect(refuseTarget(url, { allowLoopback: true, allowPrivate: false })).toMatch(/is a private address/)
  })

  test.each(PUBLIC)('%s is tried under the strictest policy', (url) => {
    expect(refuseTarget(url, STRICT)).toBeUndefined()
  })

  test.each(['ftp://example.org/', 'file:///etc/passwd', 'javascript:alert(1)'])(
    '%s has a wrong scheme',
    (url) => {
      expect(refuseTarget(url, OPEN)).toContain('only http and https are allowed')
    },
  )

  test.each(['', '/path', 'example.org', 'http://', 'http://a b/', 'http://[::1', 'http://256.1.1.1/'])(
    '%j is not an absolute URL',
    (url) => {
      expect(refuseTarget(url, OPEN)).toContain('not an absolute URL')
    },
  )

  test.each([
    'https://gate.example.org/done',
    'https://GATE.example.org.:8443/',
    'http://shop.apps.example.org/',
    'http://a.b.apps.example.org/',
    'http://203.0.114.7/',
    'http://[2600:DB8:0::7]/',
  ])('%s is tried where its host is listed', (url) => {
    expect(refuseTarget(url, LISTED)).toBeUndefined()
  })

  test.each([
    'https://example.org/',
    'https://gate.example.org.evil.example/',
    'https://evilgate.example.org/',
    'https://apps.example.org/',
    'https://evilapps.example.org/',
    'http://203.0.114.8/',
    'http://localhost/',
  ])('%s is refused where its host is not listed', (url) => {
    expect(refuseTarget(url, LISTED)).toMatch(/is not among the allowed hosts$/)
  })

  test.each([
    ['http://169.254.169.254/latest', true],
    ['http://0xa9fea9fe/latest', true],
    ['http://[fd00:ec2::254]/latest', true],
    ['http://169.254.170.2/v2', true],
    ['http://169.254.169.253/', false],
    ['http://[::ffff:169.254.169.254]/', false],
    ['http://100.100.100.200/', false],
    ['http://168.63.129.16/', false],
  ])('at %s may be used for platform credentials: %s', (url, isOpen) => {
    const policy = { allowLoopback: false, allowPrivate: true, allowedAddresses: PLATFORM_CREDENTIALS }
    expect(refuseTarget(url, policy) === undefined).toBe(isOpen)
    expect(refuseTarget(url, { allowLoopback: true, allowPrivate: true })).toBeDefined()
  })

  test('that is a name is never open by an address that is listed', async () => {
    const policy = { allowLoopback: true, allowPrivate: true, allowedAddresses: PLATFORM_CREDENTIALS }
    const lookup = makeCheckedLookup(policy, () =>
      Promise.resolve([{ address: '169.254.169.254', family: 4 }]),
    )
    const error = await new Promise((resolve) => lookup('metadata.test', {}, resolve))
    expect(String(error)).toContain('a link-local address, which is never allowed')
  })

  test('whose host is listed must be allowed by its range as well', () => {
    expect(refuseTarget('http://10.0.0.1/', { ...STRICT, allowedHosts: ['10.0.0.1'] })).toMatch(
      /is a private address/,
    )
  })

  test('with a password in its URL is refused without showing it', () => {
    const refusal = refuseTarget('https://ana:hunter2@example.org/', OPEN)
    expect(refusal).toContain('user name or password')
    expect(refusal).not.toContain('hunter2')
  })

  test('that is refused is shown without its path and query', () => {
    expect(refuseTarget('http://10.0.0.1:99/secret?token=t', STRICT)).toBe(
      'the target http://10.0.0.1:99 is refused: 10.0.0.1 is a private address, which is not allowed here',
    )
  })
})

test('a malformed address is refused', () => {
  expect(refuseAddress('example.org', OPEN)).toMatch(/never allowed/)
})
