import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { toPortable, withoutModules, type DataImage, type Snapshot } from '../../rego/index.js'
import type { SentImage, SentPolicies } from './worker-calls.js'

/** Larger images are passed as files, because a message is copied several times on both threads. */
const MAX_INLINE_BYTES = 1024 * 1024
/** Number of snapshots kept for evaluations that began before recent reloads. */
const MAX_REMEMBERED = 4
/**
 * Older snapshots are dropped after this time, because each may contain hundreds of megabytes of
 * base documents.
 */
const REMEMBERED_MS = 60_000
/**
 * Maximum size of the base documents of snapshots before the last two. Each is in memory twice: as
 * an image and in an evaluator.
 */
const MAX_REMEMBERED_BYTES = 64 * 1024 * 1024

const FILE_PREFIX = 'data-'

/** Base documents in the form sent to worker processes. */
interface Sent {
  readonly image: DataImage
  readonly as: SentImage
}

/** The policies sent to worker processes, by number. */
export class PolicySender {
  readonly #folder: string
  readonly #maxRememberedBytes: number
  readonly #snapshots = new Map<number, Snapshot>()
  readonly #moduleIds = new WeakMap<WebAssembly.Module, number>()
  #lastModuleId = 0
  #image: Sent | undefined
  #latest: SentPolicies | undefined
  /** The last message, on which later ones are based. */
  #sent: SentPolicies | undefined

  /** `folder` is for files with base documents. */
  constructor(folder: string, maxRememberedBytes = MAX_REMEMBERED_BYTES) {
    this.#folder = folder
    this.#maxRememberedBytes = maxRememberedBytes
  }

  /** The snapshot with a number. Undefined if it is too old. */
  find(id: number): Snapshot | undefined {
    return this.#snapshots.get(id)
  }

  /** The latest prepared policies, for a worker process that has none. */
  get latest(): SentPolicies | undefined {
    return this.#latest
  }

  /** The policies that were prepared for a stage after the latest ones. */
  get staged(): SentPolicies | undefined {
    return this.#sent === this.#latest ? undefined : this.#sent
  }

  /**
   * Prepares policies for sending, in place of earlier ones. Returns the parts that a worker
   * process with the previous policies lacks. Policies for a stage leave the latest ones. Throws
   * `unavailable` if base documents cannot be written.
   */
  async prepare(snapshot: Snapshot, isStaged = false): Promise<SentPolicies> {
    const before = this.#sent
    const id = (before?.id ?? 0) + 1
    this.#snapshots.set(id, snapshot)
    if (this.#latest?.id !== id - MAX_REMEMBERED) this.#snapshots.delete(id - MAX_REMEMBERED)
    this.#forgetLarge(id - 1)
    const image = await this.#sendImage(snapshot, id)
    const whole = toPortable(snapshot, (module) => this.#idOf(module))
    this.#sent = { id, snapshot: whole, image }
    if (!isStaged) this.#latest = this.#sent
    const known = new Set(before?.snapshot.modules.map((module) => module.id))
    return {
      id,
      snapshot: withoutModules(whole, known),
      image: image === before?.image ? { ...image, content: undefined } : image,
    }
  }

  /**
   * Removes files with base documents that are no longer needed, except those that starting worker
   * processes still read. Never rejects: a file that is left over is removed by the next save or
   * start.
   */
  async forgetOlder(read: readonly SentPolicies[] = []): Promise<void> {
    const id = this.#latest?.id ?? 0
    setTimeout(() => this.#forgetBefore(id), REMEMBERED_MS).unref()
    const kept = new Set([this.#latest, this.#sent, ...read].map((sent) => sent?.image.content))
    const files = await readdir(this.#folder).catch(() => [])
    for (const name of files.filter((file) => file.startsWith(FILE_PREFIX))) {
      const file = join(this.#folder, name)
      if (!kept.has(file)) await rm(file, { force: true }).catch(() => undefined)
    }
  }

  #forgetBefore(id: number): void {
    const isOld = (key: number): boolean => key < id && key !== this.#latest?.id
    for (const key of [...this.#snapshots.keys()].filter(isOld)) this.#snapshots.delete(key)
  }

  /** Drops snapshots older than `id`, the oldest first, until the rest fit the limit. */
  #forgetLarge(id: number): void {
    const images = new Set([...this.#snapshots].filter(([key]) => key >= id).map(([, { image }]) => image))
    let bytes = 0
    for (const [older, { image }] of [...this.#snapshots].filter(([key]) => key < id).reverse()) {
      if (!images.has(image)) bytes += image.bytes.length
      images.add(image)
      if (bytes <= this.#maxRememberedBytes) continue
      this.#forgetBefore(older + 1)
      return
    }
  }

  #idOf(module: WebAssembly.Module): number {
    const id = this.#moduleIds.get(module) ?? (this.#lastModuleId += 1)
    this.#moduleIds.set(module, id)
    return id
  }

  async #sendImage({ image }: Snapshot, id: number): Promise<SentImage> {
    if (this.#image?.image === image) return this.#image.as
    const { bytes, base, root } = image
    const content = bytes.length <= MAX_INLINE_BYTES ? bytes : await this.#writeFile(bytes, id)
    this.#image = { image, as: { base, root, content } }
    return this.#image.as
  }

  async #writeFile(bytes: Uint8Array, id: number): Promise<string> {
    const file = join(this.#folder, `${FILE_PREFIX}${id}`)
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await writeFile(file, bytes, { mode: 0o600 })
    } catch (cause) {
      const { message } = toError(cause)
      throw new AppError('unavailable', `cannot write base documents for worker processes: ${message}`, {
        cause,
      })
    }
    return file
  }
}
