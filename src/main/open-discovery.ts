import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { BundleFolder } from '../distribution/bundle-folder.js'
import type { OpaConfig, OpaDiscovery } from '../distribution/opa-config/read-opa-config.js'
import { PolicySource } from '../distribution/policy-source.js'
import { AppError, toAppError } from '../errors/app-error.js'
import { wait } from '../lib/outbound/back-off.js'
import { comparableText } from '../lib/outbound/credentials.js'
import type { Logger } from '../lib/logger.js'
import {
  evaluateDocument,
  hostBuiltins,
  loadSnapshot,
  newCall,
  parseDataPath,
  planDocument,
} from '../rego/index.js'
import { findServiceOpa } from './files/service-opa.js'

/** In the data directory. */
const FOLDER = 'discovery'
const SOURCE = 'discovery'
/** As for sources of policies. */
const FIRST_BUNDLE_MS = 60_000

/** The configuration of OPA with the document of its discovery bundle. */
type ReadWith = (discovered: unknown) => OpaConfig

interface Discovered {
  readonly value: unknown
  readonly revision: string
}

/** The open parts of a service that uses discovery. */
interface Opened {
  readonly definition: OpaDiscovery
  readonly source: PolicySource
  readonly folder: BundleFolder
  readonly close: () => Promise<void>
}

/**
 * The discovery bundle of a configuration of OPA. It is polled like a source of policies. A new
 * document is applied by a reload of the configuration. If that fails, the previous one stays.
 */
export class Discovery {
  readonly #logger: Logger
  #opened: Opened | undefined
  #value: unknown
  #latest: { readonly config: Config; readonly boot: OpaConfig } | undefined
  #reload: (() => Promise<unknown>) | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Returns the configuration of OPA with the discovered document. The first call waits for a
   * bundle, or uses the one that an earlier process kept. Raises `unavailable` without any, and
   * `invalid` for an unusable document and for changes of `discovery` itself.
   */
  async complete(config: Config, boot: OpaConfig, read: ReadWith): Promise<OpaConfig> {
    const { discovery } = boot
    const isOther = comparableText(this.#opened?.definition) !== comparableText(discovery)
    if (this.#reload !== undefined && isOther)
      throw new AppError('invalid', 'discovery cannot change while the service runs: restart the service')
    this.#latest = { config, boot }
    if (discovery === undefined) return boot
    if (this.#opened === undefined) await this.#open(discovery, config, read)
    return read(this.#value)
  }

  /** The polled bundle; undefined without discovery. */
  get source(): PolicySource | undefined {
    return this.#opened?.source
  }

  /** Applies later documents by `reload`, until `stop`. */
  follow(reload: () => Promise<unknown>): void {
    this.#reload = reload
    this.#opened?.source.start()
  }

  async stop(): Promise<void> {
    await this.#opened?.source.stop()
    await this.#opened?.close()
  }

  async #open(definition: OpaDiscovery, { dataDir }: Config, read: ReadWith): Promise<void> {
    const { makeFetch } = await import('../distribution/fetching/make-fetch.js')
    const { place, location } = definition.definition
    const path = join(dataDir, FOLDER)
    const { fetch, close } = makeFetch(SOURCE, location, `${path}.git`)
    const folder = new BundleFolder(path, place)
    const source = new PolicySource(definition.definition, {
      ...{ fetch, folder, wait, now: Date.now, random: Math.random },
      activate: () => this.#activate(),
      failed: (_, error) =>
        this.#logger.warn({ error: error.message }, 'no discovery bundle; the configuration stays'),
    })
    this.#opened = { definition, source, folder, close }
    await source.restore()
    const isKept = source.serving !== undefined
    try {
      await source.fetchFirst(isKept ? 0 : FIRST_BUNDLE_MS)
      const { candidate } = source
      if (candidate === undefined) await this.#use(source.servingFile, read)
      else await source.accept(candidate, await this.#use(folder.fileOf(candidate.digest), read))
    } catch (raw) {
      if (!isKept) throw raw
      this.#logger.error(
        { error: toAppError(raw).message },
        'the discovery bundle of an earlier start is used, because there is no usable new one',
      )
      await this.#use(source.servingFile, read)
    }
  }

  /** Uses the document of a bundle if the configuration can be read with it. Returns its revision. */
  async #use(file: string | undefined, read: ReadWith): Promise<string> {
    if (file === undefined) throw new AppError('internal', 'no discovery bundle is kept')
    const { value, revision } = await this.#evaluate(file)
    read(value)
    this.#value = value
    return revision
  }

  async #activate(): Promise<void> {
    const { source, folder } = this.#opened ?? {}
    const candidate = source?.candidate
    if (source === undefined || folder === undefined || candidate === undefined) return
    const before = this.#value
    try {
      const { value, revision } = await this.#evaluate(folder.fileOf(candidate.digest))
      this.#value = value
      await this.#reload?.()
      await source.accept(candidate, revision)
      this.#logger.info({ revision }, 'the configuration of a new discovery bundle is in use')
    } catch (raw) {
      this.#value = before
      const error = toAppError(raw)
      source.reject(error)
      this.#logger.error(
        { code: error.code, errors: error.details },
        `a discovery bundle is not used; the configuration stays: ${error.message}`,
      )
    }
  }

  /** Verifies and evaluates a bundle. Raises `invalid`. */
  async #evaluate(file: string): Promise<Discovered> {
    const { config, boot } = this.#latest ?? {}
    const { definition, decision } = boot?.discovery ?? {}
    if (config === undefined || definition?.demand === undefined || decision === undefined)
      throw new AppError('internal', 'discovery is not configured')
    const { demand } = definition
    const snapshot = await loadSnapshot(
      { directories: [], bundles: [], downloads: [{ source: SOURCE, file }] },
      {
        findOpa: () => findServiceOpa(config),
        builtins: hostBuiltins,
        limits: config.policies.limits,
        verification: () => ({
          keys: boot?.keys ?? new Map(),
          demandOf: () => demand,
          demandOfSource: () => demand,
        }),
      },
    )
    const plan = planDocument(snapshot, parseDataPath(decision))
    const call = newCall({ strictBuiltinErrors: true, isVerdict: true })
    const text = evaluateDocument(plan, undefined, call)
    if (text !== undefined) return { value: JSON.parse(text) as unknown, revision: snapshot.revision }
    const name = decision === '' ? 'data' : `data.${decision.replaceAll('/', '.')}`
    throw new AppError('invalid', `${name} of the discovery bundle is undefined: correct discovery.decision`)
  }
}
