import { isDeepStrictEqual } from 'node:util'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

import type { Config } from '../../config/config.js'
import { toError } from '../../errors/app-error.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import { contextOptions } from '../../http/transport/tls/tls-settings.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Logger } from '../../lib/logger.js'
import { readRevocationLists } from '../../http/transport/tls/revocation-lists.js'
import type { RevocationList } from '../../http/transport/tls/revocation-lists.js'
import { certificateIn, certificateWithKey, unusablePem } from '../../lib/validation/pem-files.js'

/**
 * Files are compared by content. Modification times miss switched symbolic links, which clusters
 * use for secrets.
 */
const CHECK_MS = 2000
const MS_PER_DAY = 86_400_000
const SOON_DAYS = 14

/** The certificate of the service, read again when its files change. */
export class TlsFiles {
  #config: Config
  readonly #logger: Logger
  readonly #checks: NodeJS.Timeout
  #read: CheckedTls
  #renewed: (settings: TlsSettings) => void = () => undefined
  /** The problem found at the last check, and whether it has been reported. */
  #problem: string | undefined
  #isReported = false

  private constructor(config: Config, logger: Logger, first: CheckedTls) {
    this.#config = config
    this.#logger = logger
    this.#read = first
    this.#checks = setInterval(() => this.check(), CHECK_MS).unref()
  }

  /**
   * Reads the files. Returns undefined if no certificate is configured. Throws `invalid` for
   * unusable files.
   */
  static open(config: Config, logger: Logger): TlsFiles | undefined {
    const settings = readTlsFiles(config)
    if (settings === undefined) return undefined
    const files = new TlsFiles(config, logger, checkTls(settings, config))
    for (const warning of [files.#lifetime(), files.#listLifetime()])
      if (warning !== undefined) logger.warn(warning)
    return files
  }

  get settings(): TlsSettings {
    return this.#read.settings
  }

  /** Checks the files of another configuration. Throws `invalid` if they cannot be used. */
  prepare(config: Config): { readonly commit: () => void } {
    const settings = readTlsFiles(config)
    if (settings !== undefined) checkTls(settings, config)
    return {
      commit: () => {
        this.#config = config
        this.check()
      },
    }
  }

  /** Registers a listener for a new certificate, key or set of authorities. */
  onRenewal(renewed: (settings: TlsSettings) => void): void {
    this.#renewed = renewed
  }

  readonly health: HealthPlugin = {
    name: 'tls',
    isUp: () => true,
    warning: () => (this.#isReported ? this.#problem : undefined) ?? this.#lifetime() ?? this.#listLifetime(),
  }

  /**
   * Checks whether the files have changed. A problem is reported only at its second check, because
   * certificate and key are rarely written at the same moment.
   */
  check(): void {
    try {
      const settings = readTlsFiles(this.#config)
      if (settings !== undefined && !isDeepStrictEqual(settings, this.#read.settings)) this.#renew(settings)
      this.#problem = undefined
      this.#isReported = false
    } catch (raw) {
      this.#note(toError(raw).message)
    }
  }

  close(): void {
    clearInterval(this.#checks)
  }

  #renew(settings: TlsSettings): void {
    const read = checkTls(settings, this.#config)
    const now = Date.now()
    if (read.endsAtMs <= now && this.#read.endsAtMs > now)
      throw new Error('the new certificate has already expired')
    if (hasEnded(read, now) && !hasEnded(this.#read, now))
      throw new Error('the new revocation list has already expired')
    const before = this.settings
    this.#read = read
    this.#renewed(settings)
    const endsAt = new Date(read.endsAtMs).toISOString()
    if (settings.certificate !== before.certificate || settings.key !== before.key)
      this.#logger.info({ endsAt }, 'new certificate in use')
    if (settings.clientCa !== before.clientCa) this.#logger.info('new client authorities in use')
    if (settings.clientCrl !== before.clientCrl) this.#logger.info('new revocation lists in use')
  }

  #note(problem: string): void {
    if (problem !== this.#problem) {
      this.#problem = problem
      this.#isReported = false
    } else if (!this.#isReported) {
      this.#isReported = true
      this.#logger.error(
        { error: problem },
        'changed TLS files cannot be used; the previous ones stay in use',
      )
    }
  }

  #listLifetime(): string | undefined {
    const { listEndsAtMs = Infinity } = this.#read
    return hasEnded(this.#read, Date.now())
      ? `a revocation list expired on ${new Date(listEndsAtMs).toISOString()}: certificates of its authority are refused`
      : undefined
  }

  #lifetime(): string | undefined {
    const { startsAtMs, endsAtMs } = this.#read
    const now = Date.now()
    const days = Math.floor((endsAtMs - now) / MS_PER_DAY)
    if (now < startsAtMs) return `the certificate is not valid before ${new Date(startsAtMs).toISOString()}`
    if (now >= endsAtMs) return `the certificate expired on ${new Date(endsAtMs).toISOString()}`
    return days < SOON_DAYS ? `the certificate expires in ${days} days` : undefined
  }
}

function hasEnded({ listEndsAtMs = Infinity }: CheckedTls, nowMs: number): boolean {
  return listEndsAtMs <= nowMs
}

/**
 * Contents of `server.tlsCertificate`, `tlsKey`, `tlsClientCa` and `tlsClientCrl` after a check
 * that they fit together.
 */
interface CheckedTls {
  readonly settings: TlsSettings
  /** Validity of the certificate, in milliseconds since the epoch. */
  readonly startsAtMs: number
  readonly endsAtMs: number
  /** The earliest end of a revocation list. Undefined if there are none. */
  readonly listEndsAtMs: number | undefined
}

/**
 * Reads the current files. Returns undefined if no certificate is configured. Throws `invalid` for
 * an unreadable file.
 */
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

/** Checks that the files fit together. Throws `invalid` and names the wrong file. */
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
