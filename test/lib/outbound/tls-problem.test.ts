import { expect, test } from 'vitest'

import { toOutboundError } from '../../../src/lib/outbound/outbound-client.js'

const request = { url: 'https://prom.test:9090/api', timeoutMs: 1000, maxResponseBytes: 1000 }

test.each([
  ['CERT_HAS_EXPIRED', 'its certificate has expired: renew it there'],
  ['CERT_NOT_YET_VALID', "its certificate is not valid yet: check both machines' clocks"],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS=FILE'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS=FILE'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name: use a name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'use a proxy'],
  ['ECONNREFUSED', 'what OpenSSL says'],
])('%s is reported with a remedy', (code, says) => {
  const { reason, message } = toOutboundError(
    Object.assign(new Error('what OpenSSL says'), { code }),
    request,
  )
  expect(reason).toBe('not_connected')
  expect(message).toMatch(/^https:\/\/prom\.test:9090 could not be reached: /)
  expect(message).toContain(says)
})
