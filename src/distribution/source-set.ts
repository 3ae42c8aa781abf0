import { toAppError } from '../errors/app-error.js'
import type { AppError } from '../errors/app-error.js'
import type { Policies, PolicyLocations } from '../rego/index.js'
import type { KeptBundle } from './bundle-folder.js'
import type { Candidate, PolicySource } from './policy-source.js'

/** How long a start waits for the first bundle of each source, in milliseconds. */
const FIRST_BUNDLES_MS = 60_000

/** A bundle that began to serve. */
export interface Activation {
  readonly source: string
  readonly revision: string
  /** SHA-256 of the bundle in hex. */
  readonly digest: string
  /** The revision that served before. */
  readonly previous: string | undefined
  /** When this bundle or revision served before, in epoch milliseconds; undefined for a new one. */
  readonly servedBeforeMs: number | undefined
}

export interface SourceSetParts {
  /** The directories and bundles that are configured in addition to the sources. */
  readonly own: PolicyLocations
  /** Called after a bundle began to serve. Never rejects. */
  readonly activated: (activation: Activation) => Promise<void>
  /** Called at the first refusal of a bundle and whenever the reason changes. */
  readonly refused: (source: string, error: AppError) => void
  /** Called if a bundle that serves cannot be written to disk for the next start. */
  readonly notKept: (source: string, error: AppError) => void
  /** Called if the bundles of earlier processes do not load. They are downloaded again. */
  readonly keptRefused: (error: AppError) => void
}

/**
 * The sources of policies. A downloaded bundle serves once it loads with everything else. Until
 * then the bundle before it serves.
 */
export class SourceSet {
  readonly #sources: readonly PolicySource[]
  readonly #parts: SourceSetParts
  #policies: Policies | undefined
  #activating: Promise<void> = Promise.resolve()

  constructor(
    makeSources: (activate: () => Promise<void>) => readonly PolicySource[],
    parts: SourceSetParts,
  ) {
    this.#sources = makeSources(() => this.#activate())
    this.#parts = parts
  }

  get sources(): readonly PolicySource[] {
    return this.#sources
  }

  /**
   * Loads the policies for the first time: with the bundles that an earlier process kept, or else
   * with downloaded ones. No decision is made before each source has a bundle, because a missing
   * bundle may contain denials. Raises `unavailable` if a source gives no bundle, and
   * every error of the given `open`.
   */
  async open(open: (locations: PolicyLocations) => Promise<Policies>): Promise<Policies> {
    await Promise.all(this.#sources.map((source) => source.restore()))
    const kept = await this.#openKept(open)
    if (kept !== undefined) return kept
    await Promise.all(this.#sources.map((source) => source.fetchFirst(FIRST_BUNDLES_MS)))
    const candidates = this.#candidates()
    const policies = await open(this.#locationsWith(candidates))
    this.#policies = policies
    await this.#accept(policies, candidates)
    return policies
  }

  /** Polls all sources. */
  start(): void {
    for (const source of this.#sources) source.start()
  }

  /** Polls all sources now. Resolves when new bundles were loaded or refused. */
  async refresh(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.refresh()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.stop()))
  }

  async #openKept(open: (locations: PolicyLocations) => Promise<Policies>): Promise<Policies | undefined> {
    if (this.#sources.some(({ serving }) => serving === undefined)) return undefined
    try {
      this.#policies = await open(this.#locationsWith([]))
      return this.#policies
    } catch (raw) {
      this.#parts.keptRefused(toAppError(raw))
      return undefined
    }
  }

  #candidates(): [PolicySource, Candidate][] {
    return this.#sources.flatMap((source) =>
      source.candidate === undefined ? [] : [[source, source.candidate] as [PolicySource, Candidate]],
    )
  }

  #locationsWith(candidates: readonly (readonly [PolicySource, Candidate])[]): PolicyLocations {
    const files = new Map(candidates.map(([source, { file }]) => [source, file]))
    const downloads = this.#sources.flatMap((source) => {
      const file = files.get(source) ?? source.servingFile
      return file === undefined ? [] : [{ source: source.name, file }]
    })
    return { ...this.#parts.own, downloads }
  }

  #activate(): Promise<void> {
    this.#activating = this.#activating.then(() => this.#activateAll())
    return this.#activating
  }

  /**
   * Tries all candidates together, since a package may have moved from one bundle to another, and
   * then each alone.
   */
  async #activateAll(): Promise<void> {
    const candidates = this.#candidates()
    if (candidates.length === 0 || (await this.#try(candidates)) || candidates.length === 1) return
    for (const candidate of candidates) await this.#try([candidate])
  }

  async #try(candidates: readonly [PolicySource, Candidate][]): Promise<boolean> {
    const policies = this.#policies
    if (policies === undefined) return false
    try {
      await policies.move(this.#locationsWith(candidates))
    } catch (raw) {
      this.#reject(candidates, toAppError(raw))
      return false
    }
    await this.#accept(policies, candidates)
    return true
  }

  #reject(candidates: readonly [PolicySource, Candidate][], error: AppError): void {
    for (const [source] of candidates) {
      const before = source.state.activationError
      source.reject(error)
      if (before?.message !== error.message) this.#parts.refused(source.name, error)
    }
  }

  async #accept(policies: Policies, candidates: readonly [PolicySource, Candidate][]): Promise<void> {
    for (const [source, candidate] of candidates) {
      const { name, serving } = source
      const revision = policies.current.sources.find((one) => one.name === name)?.revision ?? ''
      const earlier = source.history.slice(1).find((kept) => isReplay(kept, candidate.digest, revision))
      const isBack = serving?.revision !== revision && earlier !== undefined
      await source
        .accept(candidate, revision)
        .catch((raw: unknown) => this.#parts.notKept(name, toAppError(raw)))
      await this.#parts.activated({
        source: name,
        revision,
        digest: candidate.digest,
        previous: serving?.revision,
        servedBeforeMs: isBack ? earlier.activatedMs : undefined,
      })
    }
  }
}

/** True if a bundle that served before is the same, or has the same revision in another archive. */
function isReplay(kept: KeptBundle, digest: string, revision: string): boolean {
  return kept.digest === digest || kept.revision === revision
}
