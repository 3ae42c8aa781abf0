import { certificatePair } from './cross-check.js'
import type { CrossCheck } from './cross-check.js'
import { servedAddresses } from './sections/served-addresses.js'

/** What the keys about TLS and addresses must keep together. */
export const tlsChecks: readonly CrossCheck[] = [
  certificatePair('server'),
  {
    code: 'no_certificate',
    paths: [
      ['server', 'addresses'],
      ['server', 'tlsCertificate'],
      ['server', 'tlsClientCa'],
    ],
    check: ({ server }) => {
      if (server.tlsCertificate !== undefined) return undefined
      const needing = server.addresses.filter(({ tls }) => tls === true).map(({ addr }) => addr)
      const wanted = [...needing, ...(server.tlsClientCa === undefined ? [] : ['server.tlsClientCa'])]
      return wanted.length === 0
        ? undefined
        : `TLS needs server.tlsCertificate and server.tlsKey: ${wanted.join(', ')}`
    },
  },
  {
    code: 'no_client_authority',
    paths: [
      ['auth', 'certificates'],
      ['server', 'tlsRequireClient'],
      ['server', 'tlsClientCrl'],
      ['server', 'tlsClientCa'],
    ],
    check: ({ server, auth }) => {
      if (server.tlsClientCa !== undefined) return undefined
      const wanted = [
        ...(auth.certificates.length > 0 ? ['auth.certificates'] : []),
        ...(server.tlsRequireClient ? ['server.tlsRequireClient'] : []),
        ...(server.tlsClientCrl === undefined ? [] : ['server.tlsClientCrl']),
      ]
      return wanted.length === 0
        ? undefined
        : `certificates of callers are checked against server.tlsClientCa, which is not set: ${wanted.join(', ')}`
    },
  },
  {
    code: 'duplicate_address',
    paths: [
      ['server', 'addresses'],
      ['server', 'addr'],
    ],
    check: ({ server }) => {
      const texts = servedAddresses(server)
        .filter(({ address }) => 'path' in address || address.port !== 0)
        .map(({ address }) => ('path' in address ? address.path : `${address.host}:${address.port}`))
      const twice = texts.filter((text, index) => texts.indexOf(text) !== index)
      return twice.length === 0 ? undefined : `an address is there more than once: ${twice.join(', ')}`
    },
  },
]
