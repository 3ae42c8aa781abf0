import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { toPortable } from '../../pdp/slow/portable-snapshot.js'
import type { Snapshot } from '../../pdp/snapshot/snapshot.js'
import type { SentImage, SentPolicies } from './worker-calls.js'

/** A larger image goes by a file: a message is copied several times on both threads. */
const MAX_INLINE_BYTES = 1024 * 1024
/** A decision keeps the policies that it began with; what takes long may ask for those of some reloads ago. */
const REMEMBERED = 4

/** The policies that workers were or are to be sent, by the numbers by which workers name them. */
export class PolicySender {
  readonly #folder: string
  readonly #snapshots = new Map<number, Snapshot>()
  #latest: SentPolicies | undefined

  /** `folder` takes files with base documents. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The snapshot that a worker names; undefined where it is too old. */
  find(id: number): Snapshot | undefined {
    return this.#snapshots.get(id)
  }

  /** What was made ready last. */
  get latest(): SentPolicies | undefined {
    return this.#latest
  }

  /** Makes policies ready to be sent; those before them are not sent any more. Raises `unavailable` where their data cannot be written. */
  async prepare(snapshot: Snapshot): Promise<SentPolicies> {
    const before = this.#latest
    const id = (before?.id ?? 0) + 1
    this.#snapshots.set(id, snapshot)
    this.#snapshots.delete(id - REMEMBERED)
    const image = await this.#sendImage(snapshot, id)
    this.#latest = { id, snapshot: toPortable(snapshot), image }
    return this.#latest
  }

  /**
   * Removes the file of policies that no worker needs to be sent any more. Never rejects: those after them serve already, and a file that
   * stays goes with the next start.
   */
  async forgetBefore(id: number): Promise<void> {
    await rm(this.#fileOf(id - 1), { force: true }).catch(() => undefined)
  }

  async #sendImage({ image }: Snapshot, id: number): Promise<SentImage> {
    const { bytes, base, root } = image
    if (bytes.length <= MAX_INLINE_BYTES) return { base, root, content: bytes }
    const file = this.#fileOf(id)
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await writeFile(file, bytes, { mode: 0o600 })
    } catch (cause) {
      const { message } = toError(cause)
      throw new AppError('unavailable', `cannot hand base documents to workers: ${message}`, { cause })
    }
    return { base, root, content: file }
  }

  #fileOf(id: number): string {
    return join(this.#folder, `data-${id}`)
  }
}
