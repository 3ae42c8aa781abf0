import { AppError } from '../errors/app-error.js'
import type { PackedPublication, Policies, PublishRequest, Snapshot } from '../rego/index.js'

/** A bundle that others download. */
export interface PublishedVersion {
  readonly bytes: Uint8Array
  /** Equal for equal policies, whichever replica made the bundle. */
  readonly etag: string
}

export interface PublishedBundleParts {
  readonly name: string
  readonly policies: Pick<Policies, 'current' | 'whenReplaced'>
  /** Packs and signs. */
  readonly pack: (
    contents: Pick<PublishRequest, 'publishable' | 'revision' | 'image'>,
  ) => Promise<PackedPublication>
}

interface Waiting {
  readonly waitMs: number
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal
}

/** The policies that serve as a bundle. It is packed once for each snapshot that is requested. */
export class PublishedBundle {
  readonly name: string
  readonly #parts: PublishedBundleParts
  readonly #stopping = new AbortController()
  #packed: { readonly snapshot: Snapshot; readonly version: Promise<PublishedVersion> } | undefined

  constructor(parts: PublishedBundleParts) {
    this.name = parts.name
    this.#parts = parts
  }

  /**
   * Returns the bundle. If the client knows its ETag, it waits for other policies first, and returns
   * the same bundle if there are none in time. Raises `unavailable` for policies
   * that cannot be published, and `invalid` for an unusable signing key.
   */
  async newerThan(
    isKnown: (etag: string) => boolean,
    { waitMs, signal }: Waiting,
  ): Promise<PublishedVersion & { readonly isNewer: boolean }> {
    let ending: AbortSignal | undefined
    for (;;) {
      const { current } = this.#parts.policies
      const version = await this.#versionOf(current)
      if (!isKnown(version.etag)) return { ...version, isNewer: true }
      if (waitMs === 0 || ending?.aborted === true) return { ...version, isNewer: false }
      ending ??= AbortSignal.any([signal, this.#stopping.signal, AbortSignal.timeout(waitMs)])
      await this.#untilReplaced(current, ending)
    }
  }

  /** Answers all waiting requests, so that they do not hold up the end of the service. */
  close(): void {
    this.#stopping.abort()
  }

  #untilReplaced(current: Snapshot, ending: AbortSignal): Promise<void> {
    const { policies } = this.#parts
    return new Promise((resolve) => {
      const end = (): void => {
        stop()
        ending.removeEventListener('abort', end)
        resolve()
      }
      const stop = policies.whenReplaced(end)
      ending.addEventListener('abort', end)
      if (ending.aborted || policies.current !== current) end()
    })
  }

  #versionOf(snapshot: Snapshot): Promise<PublishedVersion> {
    if (this.#packed?.snapshot === snapshot) return this.#packed.version
    const version = this.#pack(snapshot)
    this.#packed = { snapshot, version }
    // A failure may be temporary: the next request tries again.
    version.catch(() => {
      if (this.#packed?.version === version) this.#packed = undefined
    })
    return version
  }

  async #pack({ publishable, revision, image }: Snapshot): Promise<PublishedVersion> {
    if (publishable === undefined) throw new AppError('internal', 'the snapshot has nothing to publish')
    if (publishable.type === 'none')
      throw new AppError(
        'unavailable',
        `the policies cannot be published: ${publishable.compiled.join(', ')} is a compiled bundle, which is only published alone`,
        { code: 'not_publishable' },
      )
    const { bytes, digest } = await this.#parts.pack({ publishable, revision, image })
    return { bytes, etag: `"${digest}"` }
  }
}
