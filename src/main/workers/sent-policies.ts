import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { toPortable, withoutModules, type DataImage, type Snapshot } from '../../rego/index.js'
import type { SentImage, SentPolicies } from './worker-calls.js'

/** A larger image goes by a file: a message is copied several times on both threads. */
const MAX_INLINE_BYTES = 1024 * 1024
/** A decision keeps the policies that it began with; what takes long may ask for those of some reloads ago. */
const REMEMBERED = 4
/** Each holds its base documents, of which there may be hundreds of megabytes: none is asked for so long. */
const REMEMBERED_MS = 60_000
/** Of those before the last two, so many bytes of base documents are held at the most: each is held twice, as an image and in what evaluates. */
const MOST_REMEMBERED_BYTES = 64 * 1024 * 1024

const FILE_PREFIX = 'data-'

/** Base documents that workers have been sent. */
interface Sent {
  readonly image: DataImage
  readonly as: SentImage
}

/** The policies that workers were or are to be sent, by the numbers by which workers name them. */
export class PolicySender {
  readonly #folder: string
  readonly #mostRememberedBytes: number
  readonly #snapshots = new Map<number, Snapshot>()
  readonly #moduleIds = new WeakMap<WebAssembly.Module, number>()
  #lastModuleId = 0
  #image: Sent | undefined
  #latest: SentPolicies | undefined

  /** `folder` takes files with base documents. */
  constructor(folder: string, mostRememberedBytes = MOST_REMEMBERED_BYTES) {
    this.#folder = folder
    this.#mostRememberedBytes = mostRememberedBytes
  }

  /** The snapshot that a worker names; undefined where it is too old. */
  find(id: number): Snapshot | undefined {
    return this.#snapshots.get(id)
  }

  /** What was made ready last, for a worker that has nothing yet. */
  get latest(): SentPolicies | undefined {
    return this.#latest
  }

  /**
   * Makes policies ready to be sent; those before them are not sent any more. Gives what a worker lacks that has those before. Raises
   * `unavailable` where their data cannot be written.
   */
  async prepare(snapshot: Snapshot): Promise<SentPolicies> {
    const before = this.#latest
    const id = (before?.id ?? 0) + 1
    this.#snapshots.set(id, snapshot)
    this.#snapshots.delete(id - REMEMBERED)
    this.#forgetLarge(id - 1)
    const image = await this.#sendImage(snapshot, id)
    const whole = toPortable(snapshot, (module) => this.#idOf(module))
    this.#latest = { id, snapshot: whole, image }
    const known = new Set(before?.snapshot.modules.map((module) => module.id))
    return {
      id,
      snapshot: withoutModules(whole, known),
      image: image === before?.image ? { ...image, content: undefined } : image,
    }
  }

  /**
   * Removes the files with base documents that no worker needs to be sent any more, but for those that starting ones still read. Never rejects:
   * what is in their place serves already, and a file that stays goes with the next save or start.
   */
  async forgetOlder(read: readonly SentPolicies[] = []): Promise<void> {
    const id = this.#latest?.id ?? 0
    setTimeout(() => this.#forgetBefore(id), REMEMBERED_MS).unref()
    const kept = new Set([this.#latest, ...read].map((sent) => sent?.image.content))
    const files = await readdir(this.#folder).catch(() => [])
    for (const name of files.filter((file) => file.startsWith(FILE_PREFIX))) {
      const file = join(this.#folder, name)
      if (!kept.has(file)) await rm(file, { force: true }).catch(() => undefined)
    }
  }

  #forgetBefore(id: number): void {
    for (const key of [...this.#snapshots.keys()].filter((key) => key < id)) this.#snapshots.delete(key)
  }

  /** Of those before `id`, the last for which there is room stay. */
  #forgetLarge(id: number): void {
    const images = new Set([...this.#snapshots].filter(([key]) => key >= id).map(([, { image }]) => image))
    let bytes = 0
    for (const [older, { image }] of [...this.#snapshots].filter(([key]) => key < id).reverse()) {
      if (!images.has(image)) bytes += image.bytes.length
      images.add(image)
      if (bytes <= this.#mostRememberedBytes) continue
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
      throw new AppError('unavailable', `cannot hand base documents to workers: ${message}`, { cause })
    }
    return file
  }
}
