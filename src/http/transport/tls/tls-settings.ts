import type { SecureContextOptions, TlsOptions } from 'node:tls'

/** What a server needs to speak TLS. Texts in PEM. */
export interface TlsSettings {
  /** With those between it and its authority behind it. */
  readonly certificate: string
  readonly key: string
  /** Whose certificates callers may show; undefined where none are asked for. */
  readonly clientCa: string | undefined
  /** What the authorities of these have revoked; undefined where nobody looks. */
  readonly clientCrl: string | undefined
  readonly requiresClient: boolean
  readonly minVersion: '1.2' | '1.3'
}

/**
 * The ciphers of TLS 1.2: forward secret and authenticated only, as Mozilla's "intermediate" list has them, without its finite fields. Those of TLS 1.3 are
 * all of that kind.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** What node makes a context of. */
export function contextOptions(settings: TlsSettings): SecureContextOptions {
  const { certificate, key, clientCa, clientCrl, minVersion } = settings
  return {
    cert: certificate,
    key,
    ...(clientCa !== undefined && { ca: clientCa }),
    // Every authority of a chain needs a list that counts then.
    ...(clientCrl !== undefined && { crl: clientCrl }),
    minVersion: `TLSv${minVersion}`,
    ciphers: CIPHERS,
    honorCipherOrder: true,
  }
}

/** What node makes a server of. A caller's certificate that is wrong is told with the answer, unless every caller needs one. */
export function serverOptions(settings: TlsSettings, handshakeMs: number): TlsOptions {
  return {
    ...contextOptions(settings),
    handshakeTimeout: handshakeMs,
    requestCert: settings.clientCa !== undefined,
    rejectUnauthorized: settings.requiresClient,
  }
}
