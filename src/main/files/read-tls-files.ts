import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

import type { Config } from '../../config/config.js'
import { toError } from '../../errors/app-error.js'
import { readRevocationLists } from '../../http/transport/tls/revocation-lists.js'
import type { RevocationList } from '../../http/transport/tls/revocation-lists.js'
import { contextOptions } from '../../http/transport/tls/tls-settings.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import { certificateIn, certificateWithKey, unusablePem } from '../../lib/validation/pem-files.js'

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
  const { tlsCertificate = '', tlsKey = '', tlsClientCa = '', tlsClientCrl = '' } = server
  const { certificate, key, clientCa } = settings
  const named = { name: 'server.tlsCertificate', path: tlsCertificate }
  const { validFrom, validTo } = certificateWithKey(
    { ...named, text: certificate },
    { name: 'server.tlsKey', path: tlsKey, text: key },
  )
  if (clientCa !== undefined) certificateIn({ name: 'server.tlsClientCa', path: tlsClientCa, text: clientCa })
  const lists = settings.clientCrl === undefined ? [] : parseLists(tlsClientCrl, settings.clientCrl)
  try {
    createSecureContext(contextOptions(settings))
  } catch (raw) {
    throw unusablePem(named, toError(raw).message)
  }
  return {
    settings,
    startsAtMs: Date.parse(validFrom),
    endsAtMs: Date.parse(validTo),
    listEndsAtMs: lists.length === 0 ? undefined : Math.min(...lists.map(({ endsAtMs }) => endsAtMs)),
  }
}

function parseLists(path: string, text: string): readonly RevocationList[] {
  try {
    return readRevocationLists(text)
  } catch (raw) {
    throw unusablePem({ name: 'server.tlsClientCrl', path }, toError(raw).message)
  }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (raw) {
    throw unusablePem({ name, path }, toError(raw).message)
  }
}
