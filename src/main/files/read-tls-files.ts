import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

import type { Config } from '../../config/config.js'
import { AppError, toError } from '../../errors/app-error.js'
import { readRevocationLists } from '../../http/transport/tls/revocation-lists.js'
import type { RevocationList } from '../../http/transport/tls/revocation-lists.js'
import { contextOptions } from '../../http/transport/tls/tls-settings.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'

/** What the files of `server.tlsCertificate`, `tlsKey`, `tlsClientCa` and `tlsClientCrl` hold, once it is known to fit together. */
export interface CheckedTls {
  readonly settings: TlsSettings
  /** When the certificate begins and ends to be good, in milliseconds since the epoch. */
  readonly startsAtMs: number
  readonly endsAtMs: number
  /** When the first of the revocation lists ends; undefined where there are none. */
  readonly listEndsAtMs: number | undefined
}

/** Reads the files as they are now; undefined where no certificate is configured. Raises `invalid` for one that cannot be read. */
export function readTlsFiles({ server }: Config): TlsSettings | undefined {
  const { tlsCertificate, tlsKey, tlsClientCa, tlsClientCrl, tlsRequireClient, tlsMinVersion } = server
  if (tlsCertificate === undefined || tlsKey === undefined) return undefined
  return {
    certificate: read('server.tlsCertificate', tlsCertificate),
    key: read('server.tlsKey', tlsKey),
    clientCa: tlsClientCa === undefined ? undefined : read('server.tlsClientCa', tlsClientCa),
    clientCrl: tlsClientCrl === undefined ? undefined : read('server.tlsClientCrl', tlsClientCrl),
    requiresClient: tlsRequireClient,
    minVersion: tlsMinVersion,
  }
}

/** Checks that what was read can be used together. Raises `invalid`, with the file that is to blame. */
export function checkTls(settings: TlsSettings, { server }: Config): CheckedTls {
  const { tlsCertificate = '', tlsKey = '', tlsClientCa, tlsClientCrl = '' } = server
  const { validFrom, validTo } = checkPair(settings, { tlsCertificate, tlsKey })
  if (settings.clientCa !== undefined) parseCertificate('server.tlsClientCa', tlsClientCa, settings.clientCa)
  const lists = settings.clientCrl === undefined ? [] : parseLists(tlsClientCrl, settings.clientCrl)
  try {
    createSecureContext(contextOptions(settings))
  } catch (raw) {
    throw unusable('server.tlsCertificate', tlsCertificate, toError(raw).message)
  }
  return {
    settings,
    startsAtMs: Date.parse(validFrom),
    endsAtMs: Date.parse(validTo),
    listEndsAtMs: lists.length === 0 ? undefined : Math.min(...lists.map(({ endsAtMs }) => endsAtMs)),
  }
}

interface Names {
  readonly tlsCertificate: string
  readonly tlsKey: string
}

function checkPair({ certificate, key }: TlsSettings, { tlsCertificate, tlsKey }: Names): X509Certificate {
  const first = parseCertificate('server.tlsCertificate', tlsCertificate, certificate)
  let isOwn: boolean
  try {
    isOwn = first.checkPrivateKey(createPrivateKey(key))
  } catch {
    throw unusable(
      'server.tlsKey',
      tlsKey,
      'it holds no private key in PEM that can be read without a passphrase',
    )
  }
  if (!isOwn)
    throw unusable('server.tlsKey', tlsKey, `it is not the key of the certificate in ${tlsCertificate}`)
  return first
}

function parseLists(path: string, text: string): readonly RevocationList[] {
  try {
    return readRevocationLists(text)
  } catch (raw) {
    throw unusable('server.tlsClientCrl', path, toError(raw).message)
  }
}

function parseCertificate(name: string, path = '', text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw unusable(name, path, 'it holds no certificate in PEM')
  }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (raw) {
    throw unusable(name, path, toError(raw).message)
  }
}

function unusable(name: string, path: string, reason: string): AppError {
  return new AppError('invalid', `${name} (${path}) cannot be used: ${reason}`)
}
