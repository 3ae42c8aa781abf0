import { toAppError } from '../errors/app-error.js'
import type { AppError } from '../errors/app-error.js'
import type { Policies, PolicyLocations } from '../rego/index.js'
import type { KeptBundle } from './bundle-folder.js'
import type { Candidate, PolicySource } from './policy-source.js'

/** How long a start waits for the first bundle of each source, in milliseconds. */
const FIRST_BUNDLES_MS = 60_000
/** How long a reload waits for the first bundle of each new or changed source, in milliseconds. */
const RELOADED_BUNDLES_MS = 10_000

/** Error code of policies that answered a share of requests and do not serve. */
export const TAKEN_BACK = 'revision_taken_back'

/** A bundle that began to serve. */
export interface Activation {
  readonly source: string
  readonly revision: string
  /** The revision of all policies. */
  readonly policies: string
  /** The key of the verified signature. */
  readonly signer?: string | undefined
  /** Who requested it. */
  readonly user?: string | undefined
  /** SHA-256 of the bundle in hex; undefined for files of directories. */
  readonly digest?: string
  /** The revision that served before. */
  readonly previous: string | undefined
  /** When this bundle or revision served before, in epoch milliseconds; undefined for a new one. */
  readonly servedBeforeMs?: number | undefined
}

export interface SourceSetParts {
  /** Called after a bundle began to serve. Never rejects. */
  readonly activated: (activation: Activation) => Promise<void>
  /** True if new bundles answer a share of requests first. */
  readonly isStaging: () => boolean
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
  readonly #parts: SourceSetParts
  #sources: readonly PolicySource[] = []
  /** The directories and bundles that are configured in addition to the sources. */
  #own: PolicyLocations = { directories: [], bundles: [] }
  #policies: Policies | undefined
  /** The bundle with the configuration that names the sources, if there is one. */
  discovery: PolicySource | undefined
  #activating: Promise<void> = Promise.resolve()
  #requestedBy: string | undefined
  /** The digests of bundles that were loaded together and are staged. */
  readonly #staged = new Set<ReadonlySet<string>>()
  /** The digest of the bundle of a source that was taken back. */
  readonly #takenBack = new WeakMap<PolicySource, string>()

  constructor(parts: SourceSetParts) {
    this.#parts = parts
  }

  /** True for a bundle that answers a share of requests. */
  isStaged(digest: string): boolean {
    return [...this.#staged].some((digests) => digests.has(digest))
  }

  get sources(): readonly PolicySource[] {
    return this.#sources
  }

  /**
   * Loads the policies for the first time: with the bundles that an earlier process stored, or else
   * with downloaded ones. No decision is made before each source has a bundle, because a missing
   * bundle may contain denials. Raises `unavailable` if a source gives no bundle, and
   * every error of the given `open`.
   */
  async open(
    sources: readonly PolicySource[],
    own: PolicyLocations,
    open: (locations: PolicyLocations) => Promise<Policies>,
  ): Promise<Policies> {
    this.#sources = sources
    this.#own = own
    const kept = await this.#openKept(open)
    if (kept !== undefined) return kept
    await Promise.all(sources.map((source) => source.fetchFirst(FIRST_BUNDLES_MS)))
    const candidates = candidatesOf(sources)
    const policies = await open(locationsOf(sources, own, candidates))
    this.#policies = policies
    // Bundles that wait for the end of a pin are not verified yet.
    if (policies.pinned === undefined) await this.#accept(policies, candidates)
    return policies
  }

  /**
   * Replaces the sources and the other locations by a load of the given function, which rejects if
   * the new policies cannot serve. New sources are polled from then on, and removed ones are
   * stopped. If a source gives no bundle or the load fails, it rejects and nothing changes.
   */
  async change(
    sources: readonly PolicySource[],
    own: PolicyLocations,
    load: (locations: PolicyLocations) => Promise<void>,
  ): Promise<void> {
    const changing = this.#activating.then(() => this.#change(sources, own, load))
    this.#activating = changing.catch(() => undefined)
    await changing
  }

  async #change(
    sources: readonly PolicySource[],
    own: PolicyLocations,
    load: (locations: PolicyLocations) => Promise<void>,
  ): Promise<void> {
    const before = this.#sources
    const added = sources.filter((source) => !before.includes(source))
    try {
      await Promise.all(added.map((source) => source.fetchFirst(RELOADED_BUNDLES_MS)))
      // Bundles that replace others wait for their stage.
      const candidates = candidatesOf(sources).filter(
        ([source]) => source.serving === undefined || !this.#parts.isStaging(),
      )
      await load(locationsOf(sources, own, candidates))
      this.#sources = sources
      this.#own = own
      if (this.#policies !== undefined) await this.#accept(this.#policies, candidates)
    } catch (raw) {
      for (const source of added) void source.stop()
      throw raw
    }
    for (const source of added) source.start()
    // A request of a removed source may wait for this change, so its end is not waited for.
    for (const source of before.filter((each) => !sources.includes(each))) void source.stop()
  }

  /** The sources and the discovery bundle. */
  get polled(): readonly PolicySource[] {
    return this.discovery === undefined ? this.#sources : [...this.#sources, this.discovery]
  }

  /** Polls all sources. */
  start(): void {
    for (const source of this.#sources) source.start()
  }

  /** The user whose `refresh` runs. */
  get requestedBy(): string | undefined {
    return this.#requestedBy
  }

  /**
   * Polls the discovery bundle and all sources now, or reads the files again if there are none. Resolves when new policies
   * were loaded or refused.
   */
  async refresh(user: string | undefined): Promise<void> {
    this.#requestedBy = user
    try {
      // It may change the sources.
      await this.discovery?.refresh()
      if (this.#sources.length === 0) await this.#policies?.reload()
      else await Promise.all(this.#sources.map((source) => source.refresh()))
    } finally {
      this.#requestedBy = undefined
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.stop()))
  }

  async #openKept(open: (locations: PolicyLocations) => Promise<Policies>): Promise<Policies | undefined> {
    if (this.#sources.some(({ serving }) => serving === undefined)) return undefined
    try {
      this.#policies = await open(locationsOf(this.#sources, this.#own, []))
      return this.#policies
    } catch (raw) {
      if (this.#sources.length === 0) throw raw
      this.#parts.keptRefused(toAppError(raw))
      return undefined
    }
  }

  /** Tries to put the candidates of all sources into service. Never rejects. */
  readonly activate = (): Promise<void> => {
    this.#activating = this.#activating.then(() => this.#activateAll())
    return this.#activating
  }

  /**
   * Tries all candidates together, since a package may have moved from one bundle to another, and
   * then each alone.
   */
  async #activateAll(): Promise<void> {
    // The downloaded bundles wait until the policies are unpinned.
    if (this.#policies?.isHeld === true) return
    const candidates = candidatesOf(this.#sources).filter(
      ([source, { digest }]) => this.#takenBack.get(source) !== digest,
    )
    if (candidates.every(([, { digest }]) => this.isStaged(digest))) return
    if (candidates.length === 0 || (await this.#try(candidates)) || candidates.length === 1) return
    for (const candidate of candidates) await this.#try([candidate])
  }

  async #try(candidates: readonly [PolicySource, Candidate][]): Promise<boolean> {
    const policies = this.#policies
    if (policies === undefined) return false
    const staged = new Set(candidates.map(([, { digest }]) => digest))
    const end = (): void => void this.#staged.delete(staged)
    this.#staged.add(staged)
    try {
      await policies.move({
        locations: locationsOf(this.#sources, this.#own, candidates),
        isStaged: true,
        served: async () => {
          end()
          await this.#accept(policies, candidates)
        },
        dropped: (reason) => {
          end()
          if (reason !== undefined) this.#reject(candidates, reason)
        },
      })
      return true
    } catch (raw) {
      end()
      this.#reject(candidates, toAppError(raw))
      return false
    }
  }

  #reject(candidates: readonly [PolicySource, Candidate][], error: AppError): void {
    for (const [source, { digest }] of candidates) {
      const before = source.state.activationError
      if (error.code === TAKEN_BACK) this.#takenBack.set(source, digest)
      source.reject(error)
      if (before?.message !== error.message) this.#parts.refused(source.name, error)
    }
  }

  async #accept(policies: Policies, candidates: readonly [PolicySource, Candidate][]): Promise<void> {
    for (const [source, candidate] of candidates) {
      const { name, serving } = source
      const { current } = policies
      const { revision = '', signer } = current.sources.find((one) => one.name === name) ?? {}
      const signers = [signer, candidate.signer].filter((one) => one !== undefined)
      const earlier = source.history.slice(1).find((kept) => isReplay(kept, candidate.digest, revision))
      const isBack = serving?.revision !== revision && earlier !== undefined
      await source
        .accept(candidate, revision)
        .catch((raw: unknown) => this.#parts.notKept(name, toAppError(raw)))
      await this.#parts.activated({
        ...{ source: name, revision, policies: current.revision, digest: candidate.digest },
        signer: signers.length === 0 ? undefined : signers.join(', '),
        user: this.#requestedBy,
        previous: serving?.revision,
        servedBeforeMs: isBack ? earlier.activatedMs : undefined,
      })
    }
  }
}

function candidatesOf(sources: readonly PolicySource[]): [PolicySource, Candidate][] {
  return sources.flatMap((source) =>
    source.candidate === undefined ? [] : [[source, source.candidate] as [PolicySource, Candidate]],
  )
}

/** Returns the locations with the candidates in place of what serves. */
function locationsOf(
  sources: readonly PolicySource[],
  own: PolicyLocations,
  candidates: readonly (readonly [PolicySource, Candidate])[],
): PolicyLocations {
  if (sources.length === 0) return own
  const files = new Map(candidates.map(([source, { file }]) => [source, file]))
  const downloads = sources.flatMap((source) => {
    const file = files.get(source) ?? source.servingFile
    return file === undefined ? [] : [{ source: source.name, file }]
  })
  return { ...own, downloads }
}

/** True if a bundle that served before is the same, or has the same revision in another archive. */
function isReplay(kept: KeptBundle, digest: string, revision: string): boolean {
  return kept.digest === digest || kept.revision === revision
}
