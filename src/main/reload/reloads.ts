import { changedKeys, isChangeable } from '../../config/changeable-keys.js'
import type { Config } from '../../config/config.js'
import { changedSecrets, readSecrets } from '../../config/read-secrets.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { OpaConfig } from '../../distribution/opa-config/read-opa-config.js'
import type { PolicySource } from '../../distribution/policy-source.js'
import { AppError, toAppError } from '../../errors/app-error.js'
import { comparableText } from '../../lib/outbound/credentials.js'
import type { Actor } from '../../gates/instances/actor.js'
import type { Logger } from '../../lib/logger.js'

/** A configuration with the files and secrets that it names. */
export interface Configured {
  readonly config: Config
  readonly readSecret: ReadSecret
  /** The configuration of OPA in `policies.opaConfig`. */
  readonly opa: OpaConfig | undefined
  /** The bundle with the rest of the configuration of OPA. It stays while the service runs. */
  readonly discovery?: PolicySource | undefined
}

/** A part that is ready for another configuration. */
export interface PreparedPart {
  /** Switches the part. It must not fail, because other parts have switched already. */
  readonly commit: () => void
  /** Releases what was prepared if another part refuses the configuration. */
  readonly discard?: () => void | Promise<void>
}

/** Prepares a part for a configuration without any effect. Throws if the part cannot use it. */
export type PreparePart = (next: Configured) => PreparedPart | Promise<PreparedPart>

/** What a reload changed. */
export interface ReloadResult {
  /** The keys whose values or secrets changed. */
  readonly changed: readonly string[]
  /** What differs from the start of the process and takes effect at the next one. */
  readonly needsRestart: readonly string[]
  readonly durationMs: number
}

/** Keys whose secrets are read again for each use. */
const READ_EACH_TIME = 'policies.publish.'

/** The last steps of a reload, which can fail. */
export interface ReloadSteps {
  /** Stores the gates and the record of the reload in one transaction. */
  record: (next: Configured, changed: readonly string[], actor: Actor) => Promise<void>
  /**
   * Loads the policies of the configuration, if other ones are named, and puts them into service
   * once `record` resolves.
   */
  activate: (next: Configured, changed: readonly string[], record: () => Promise<void>) => Promise<void>
  /** Sends the configuration to the worker processes. Never rejects. */
  spread: (config: Config) => Promise<void>
}

interface ReloadsOptions {
  /** Reads the configuration again. Undefined if the service was not started from files. */
  readonly reread: (() => Config | Promise<Config>) | undefined
  /** Reads the configuration of OPA that a configuration names. */
  readonly withOpa: (config: Config) => Promise<Pick<Configured, 'config' | 'opa'>>
  readonly now: () => number
  readonly logger: Logger
}

/**
 * The configuration of a running service, and its changes. A reload prepares all parts first, then
 * switches them together. An error leaves everything unchanged.
 */
export class Reloads {
  readonly #options: ReloadsOptions
  readonly #parts: PreparePart[] = []
  readonly #started: Configured
  #current: Configured
  #running: Promise<unknown> = Promise.resolve()
  /** Set by the parts that do these steps. */
  readonly steps: ReloadSteps = {
    record: () => Promise.resolve(),
    activate: (_next, _changed, record) => record(),
    spread: () => Promise.resolve(),
  }

  constructor(current: Configured, options: ReloadsOptions) {
    this.#started = current
    this.#current = current
    this.#options = options
  }

  /** The configuration in effect, with what it names. */
  get current(): Configured {
    return this.#current
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.#current.config
  }

  /** Registers a part that follows the configuration. */
  add(prepare: PreparePart): void {
    this.#parts.push(prepare)
  }

  /**
   * Reads and applies the configuration, after any earlier reload. Throws `invalid` with every
   * problem, and the errors of the parts; the service then continues as before.
   */
  async reload(caller: Omit<Actor, 'nowMs'>): Promise<ReloadResult> {
    const reloading = this.#running.then(() => this.#reload({ ...caller, nowMs: this.#options.now() }))
    this.#running = reloading.catch(() => undefined)
    return await reloading
  }

  async #reload(actor: Actor): Promise<ReloadResult> {
    const { logger } = this.#options
    const startedAt = performance.now()
    const { user, origin } = actor
    try {
      const next = await this.#read()
      const changed = this.#compare(next)
      await this.#switch(next, changed, actor)
      const durationMs = Math.round(performance.now() - startedAt)
      const needsRestart = this.#needsRestart(next)
      logger.info({ changed, needsRestart, durationMs, user, origin }, 'configuration reloaded')
      return { changed, needsRestart, durationMs }
    } catch (raw) {
      const { code, message, details } = toAppError(raw)
      logger.error(
        { code, errors: details, user, origin },
        `the configuration was not reloaded and the previous one stays in use: ${message}`,
      )
      throw raw
    }
  }

  async #read(): Promise<Configured> {
    const { reread, withOpa } = this.#options
    if (reread === undefined)
      throw new AppError('internal', 'the service was started without files to read again')
    const { config, opa } = await withOpa(await reread())
    return { config, opa, readSecret: readSecrets(config, process.env) }
  }

  #compare({ config, readSecret, opa }: Configured): readonly string[] {
    const before = this.#current
    const keys = changedKeys(before.config, config)
    const secrets = changedSecrets(config, before.readSecret, readSecret).filter(isChangeable)
    const isOtherOpa = comparableText(before.opa) !== comparableText(opa)
    return [...new Set([...keys, ...secrets, ...(isOtherOpa ? ['policies.opaConfig'] : [])])].sort()
  }

  #needsRestart({ config, readSecret, opa }: Configured): readonly string[] {
    const before = this.#started
    const secrets = changedSecrets(config, before.readSecret, readSecret).filter(
      (key) => !isChangeable(key) && !key.startsWith(READ_EACH_TIME),
    )
    const members = (['labels', 'status'] as const).filter(
      (member) => comparableText(before.opa?.[member]) !== comparableText(opa?.[member]),
    )
    return [...secrets, ...members.map((member) => `policies.opaConfig: ${member}`)].sort()
  }

  async #switch(next: Configured, changed: readonly string[], actor: Actor): Promise<void> {
    const { record, activate, spread } = this.steps
    const prepared: PreparedPart[] = []
    try {
      for (const prepare of this.#parts) prepared.push(await prepare(next))
      await activate(next, changed, () => record(next, changed, actor))
    } catch (raw) {
      for (const { discard } of prepared) await discard?.()
      throw raw
    }
    this.#current = next
    for (const { commit } of prepared) commit()
    await spread(next.config)
  }
}
