import type { SecureContextOptions, TlsOptions } from 'node:tls'

/** TLS settings of a server. Certificates, keys and lists are PEM. */
export interface TlsSettings {
  /** With its intermediate certificates. */
  readonly certificate: string
  readonly key: string
  /** CAs of client certificates; undefined if none are requested. */
  readonly clientCa: string | undefined
  /** Revocation lists of these CAs; undefined if revocation is not checked. */
  readonly clientCrl: string | undefined
  readonly requiresClient: boolean
  readonly minVersion: '1.2' | '1.3'
}

/**
 * Forward-secret, authenticated ciphers: Mozilla's "intermediate" list without finite-field ones.
 * All ciphers of TLS 1.3 qualify.
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

/** Returns the options of a secure context. */
export function contextOptions(settings: TlsSettings): SecureContextOptions {
  const { certificate, key, clientCa, clientCrl, minVersion } = settings
  return {
    cert: certificate,
    key,
    ...(clientCa !== undefined && { ca: clientCa }),
    // OpenSSL requires a current list for every CA of a chain.
    ...(clientCrl !== undefined && { crl: clientCrl }),
    minVersion: `TLSv${minVersion}`,
    ciphers: CIPHERS,
    honorCipherOrder: true,
  }
}

/**
 * Returns the TLS options of a server. An invalid client certificate is reported in the response,
 * unless every client needs one.
 */
export function serverOptions(settings: TlsSettings, handshakeMs: number): TlsOptions {
  return {
    ...contextOptions(settings),
    handshakeTimeout: handshakeMs,
    requestCert: settings.clientCa !== undefined,
    rejectUnauthorized: settings.requiresClient,
  }
}
