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

/** A changed time of a file says too little where links are turned to other files, as in a cluster's secrets. */
const LOOK_MS = 2000
const MS_PER_DAY = 86_400_000
const SOON_DAYS = 14

/** The certificate of the service, which is read again when its files change. */
export class TlsFiles {
  readonly #config: Config
  readonly #logger: Logger
  readonly #looks: NodeJS.Timeout
  #read: CheckedTls
  #renewed: (settings: TlsSettings) => void = () => undefined
  /** What was wrong at the last look, and whether it has been told. */
  #problem: string | undefined
  #isTold = false

  private constructor(config: Config, logger: Logger, first: CheckedTls) {
    this.#config = config
    this.#logger = logger
    this.#read = first
    this.#looks = setInterval(() => this.look(), LOOK_MS).unref()
  }

  /** Reads the files; undefined where no certificate is configured. Raises `invalid` for files that cannot be used. */
  static open(config: Config, logger: Logger): TlsFiles | undefined {
    const settings = readTlsFiles(config)
    if (settings === undefined) return undefined
    const files = new TlsFiles(config, logger, checkTls(settings, config))
    for (const warning of [files.#lifetime(), files.#listLifetime()])
      if (warning !== undefined) logger.warn(warning)
    return files
  }

  /** What serves now. */
  get settings(): TlsSettings {
    return this.#read.settings
  }

  /** Has a listener told of another certificate, key or authorities. */
  onRenewal(renewed: (settings: TlsSettings) => void): void {
    this.#renewed = renewed
  }

  /** What someone should look into. */
  readonly health: HealthPlugin = {
    name: 'tls',
    isUp: () => true,
    warning: () => (this.#isTold ? this.#problem : undefined) ?? this.#lifetime() ?? this.#listLifetime(),
  }

  /** Looks whether the files have changed. Certificate and key are seldom written at the same moment, so that what is wrong once may be right at the next look. */
  look(): void {
    try {
      const settings = readTlsFiles(this.#config)
      if (settings !== undefined && !isDeepStrictEqual(settings, this.#read.settings)) this.#renew(settings)
      this.#problem = undefined
      this.#isTold = false
    } catch (raw) {
      this.#note(toError(raw).message)
    }
  }

  close(): void {
    clearInterval(this.#looks)
  }

  #renew(settings: TlsSettings): void {
    const read = checkTls(settings, this.#config)
    const now = Date.now()
    if (read.endsAtMs <= now && this.#read.endsAtMs > now)
      throw new Error('the new certificate has ended already')
    if (hasEnded(read, now) && !hasEnded(this.#read, now))
      throw new Error('the new revocation list has ended already')
    const before = this.settings
    this.#read = read
    this.#renewed(settings)
    const endsAt = new Date(read.endsAtMs).toISOString()
    if (settings.certificate !== before.certificate || settings.key !== before.key)
      this.#logger.info({ endsAt }, 'a new certificate serves')
    if (settings.clientCa !== before.clientCa) this.#logger.info('new authorities of callers count')
    if (settings.clientCrl !== before.clientCrl) this.#logger.info('new revocation lists count')
  }

  #note(problem: string): void {
    if (problem !== this.#problem) {
      this.#problem = problem
      this.#isTold = false
    } else if (!this.#isTold) {
      this.#isTold = true
      this.#logger.error(
        { error: problem },
        'changed TLS files cannot be used: what they held before goes on',
      )
    }
  }

  #listLifetime(): string | undefined {
    const { listEndsAtMs = Infinity } = this.#read
    return hasEnded(this.#read, Date.now())
      ? `a revocation list has ended on ${new Date(listEndsAtMs).toISOString()}: certificates of its authority are refused`
      : undefined
  }

  #lifetime(): string | undefined {
    const { startsAtMs, endsAtMs } = this.#read
    const now = Date.now()
    const days = Math.floor((endsAtMs - now) / MS_PER_DAY)
    if (now < startsAtMs) return `the certificate begins only on ${new Date(startsAtMs).toISOString()}`
    if (now >= endsAtMs) return `the certificate has ended on ${new Date(endsAtMs).toISOString()}`
    return days < SOON_DAYS ? `the certificate ends in ${days} days` : undefined
  }
}

function hasEnded({ listEndsAtMs = Infinity }: CheckedTls, nowMs: number): boolean {
  return listEndsAtMs <= nowMs
}

/** What the files of `server.tlsCertificate`, `tlsKey`, `tlsClientCa` and `tlsClientCrl` hold, once it is known to fit together. */
interface CheckedTls {
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
