import { expect, test } from 'vitest'

import { ownAddress } from '../../../src/config/sections/served-addresses.js'

const tlsCertificate = 'tls.crt'

test.each([
  ['the port of a service without TLS', '0.0.0.0:80', [], undefined, 'http://127.0.0.1:80'],
  ['an address of IPv6', '[::]:80', [], undefined, 'http://[::1]:80'],
  ['a name', 'tidegate.example.org:8443', [], tlsCertificate, 'https://tidegate.example.org:8443'],
  ['the socket before TLS', '0.0.0.0:443', ['unix:/run/s'], tlsCertificate, 'unix:/run/s'],
  ['the port before the socket', '127.0.0.1:80', ['unix:/run/s'], undefined, 'http://127.0.0.1:80'],
  ['no port that the system chooses', '127.0.0.1:0', [], undefined, undefined],
])('a client on the same machine uses %s', (_, addr, others, certificate, url) => {
  const addresses = others.map((other) => ({ addr: other, serves: 'all' as const }))
  expect(ownAddress({ addr, addresses, tlsCertificate: certificate })).toBe(url)
})

test('an address that serves only health is not used by clients', () => {
  const addresses = [{ addr: '127.0.0.1:81', serves: 'health' as const, tls: false }]
  expect(ownAddress({ addr: '127.0.0.1:443', addresses, tlsCertificate })).toBe('https://127.0.0.1:443')
})
