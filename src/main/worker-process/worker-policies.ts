import { open } from 'node:fs/promises'

import { AppError } from '../../errors/app-error.js'
import { toSharedBytes } from '../../lib/turns/in-slices.js'
import {
  ArrivingSnapshots,
  hostBuiltins,
  type DataImage,
  type EvaluationLimits,
  type Snapshot,
} from '../../rego/index.js'
import type { SentImage, SentPolicies } from '../workers/worker-calls.js'

/** The policies of a worker: what the main process sends, ready before it serves. */
export class WorkerPolicies {
  readonly #arriving: Arriving
  readonly #ready = new Map<number, Snapshot>()
  readonly #ids = new WeakMap<Snapshot, number>()
  #current: Snapshot
  #loading: Promise<unknown> = Promise.resolve()

  private constructor(arriving: Arriving, first: Snapshot, id: number) {
    this.#arriving = arriving
    this.#current = first
    this.#ids.set(first, id)
  }

  /** With the policies that serve first. */
  static async open(sent: SentPolicies, limits: EvaluationLimits): Promise<WorkerPolicies> {
    const arriving = new Arriving(limits)
    return new WorkerPolicies(arriving, await arriving.take(sent), sent.id)
  }

  get current(): Snapshot {
    return this.#current
  }

  /** By which the main process knows a snapshot. */
  readonly idOf = (snapshot: Snapshot): number => this.#ids.get(snapshot) ?? 0

  /** Gets policies ready, after those that came before. */
  async load(sent: SentPolicies): Promise<void> {
    const loaded = this.#loading.then(() => this.#arriving.take(sent))
    this.#loading = loaded.catch(() => undefined)
    const snapshot = await loaded
    this.#ids.set(snapshot, sent.id)
    this.#ready.set(sent.id, snapshot)
  }

  /** Has policies serve that are ready; those that came before them never will. */
  activate(id: number): void {
    const snapshot = this.#ready.get(id)
    for (const older of [...this.#ready.keys()].filter((key) => key <= id)) this.#ready.delete(older)
    if (snapshot === undefined) return
    this.#current = snapshot
  }
}

/** What has come last, of which only what is new comes again. */
class Arriving {
  readonly #snapshots: ArrivingSnapshots
  #image: DataImage | undefined

  constructor(limits: EvaluationLimits) {
    this.#snapshots = new ArrivingSnapshots(hostBuiltins, limits)
  }

  async take({ snapshot, image }: SentPolicies): Promise<Snapshot> {
    const whole = await this.#take(image)
    this.#image = whole
    return await this.#snapshots.take(snapshot, whole)
  }

  /** In shared memory, as where it was made: the slow threads of this process would share it. */
  async #take({ base, root, content }: SentImage): Promise<DataImage> {
    if (content === undefined) {
      if (this.#image !== undefined) return this.#image
      throw new AppError('internal', 'base documents are neither sent nor known')
    }
    const bytes = await (typeof content === 'string' ? readSharedFile(content) : toSharedBytes(content))
    return { base, root, bytes }
  }
}

/** Of one read: the pages that it fills are the system's to zero and copy, in a thread of node's pool. */
const PIECE_BYTES = 8 * 1024 * 1024

/** The bytes of a file in memory that threads share, read straight into it: the calling thread copies none. Raises the system's error where it cannot be read, and an error where it becomes shorter meanwhile. */
export async function readSharedFile(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const bytes = new Uint8Array(new SharedArrayBuffer(size))
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(bytes, at, Math.min(PIECE_BYTES, size - at), at)
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`)
      at += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}
