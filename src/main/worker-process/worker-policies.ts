import { open } from 'node:fs/promises'

import { AppError } from '../../errors/app-error.js'
import { toSharedBytes } from '../../lib/turns/in-slices.js'
import {
  ArrivingSnapshots,
  hostBuiltins,
  type DataImage,
  type EvaluationLimits,
  type Snapshot,
  type Staged,
} from '../../rego/index.js'
import type { SentImage, SentPolicies, SentStage } from '../worker-pool/worker-calls.js'

/** The policies of a worker process, as received from the main process. */
export class WorkerPolicies {
  readonly #arriving: Arriving
  readonly #ready = new Map<number, Snapshot>()
  readonly #ids = new WeakMap<Snapshot, number>()
  #current: Snapshot
  #staged: Staged | undefined
  #loading: Promise<unknown> = Promise.resolve()

  private constructor(arriving: Arriving, first: Snapshot, id: number) {
    this.#arriving = arriving
    this.#current = first
    this.#ids.set(first, id)
  }

  /** Opens the policies that serve first. */
  static async open(sent: SentPolicies, limits: EvaluationLimits): Promise<WorkerPolicies> {
    const arriving = new Arriving(limits)
    return new WorkerPolicies(arriving, await arriving.take(sent), sent.id)
  }

  get current(): Snapshot {
    return this.#current
  }

  /** The policies that answer a share of requests. */
  get staged(): Staged | undefined {
    return this.#staged
  }

  /** The number by which the main process knows a snapshot. */
  readonly idOf = (snapshot: Snapshot): number => this.#ids.get(snapshot) ?? 0

  /** Prepares policies, after any earlier ones. */
  async load(sent: SentPolicies): Promise<void> {
    const loaded = this.#loading.then(() => this.#arriving.take(sent))
    this.#loading = loaded.catch(() => undefined)
    const snapshot = await loaded
    this.#ids.set(snapshot, sent.id)
    this.#ready.set(sent.id, snapshot)
  }

  /** Puts prepared policies into service and drops older ones. */
  activate(id: number): void {
    const snapshot = this.#ready.get(id)
    for (const older of [...this.#ready.keys()].filter((key) => key <= id)) this.#ready.delete(older)
    if (snapshot === undefined) return
    this.#current = snapshot
    this.#staged = undefined
  }

  /** Lets prepared policies answer a share of requests; none if undefined. */
  stage(staged: SentStage | undefined): void {
    const snapshot = staged && this.#ready.get(staged.id)
    this.#staged = snapshot && { snapshot, sharePercent: staged.sharePercent }
    for (const id of [...this.#ready.keys()].filter((key) => key !== staged?.id)) this.#ready.delete(id)
  }
}

/** The latest received policies. Later messages contain only what has changed. */
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

  /** Uses shared memory, as the main process does. */
  async #take({ base, root, content }: SentImage): Promise<DataImage> {
    if (content === undefined) {
      if (this.#image !== undefined) return this.#image
      throw new AppError('internal', 'base documents are neither sent nor known')
    }
    const bytes = await (typeof content === 'string' ? readSharedFile(content) : toSharedBytes(content))
    return { base, root, bytes }
  }
}

/**
 * Size of one read, in bytes. Each read occupies a thread of Node's pool until it is done,
 * including the time in which the system zeroes the memory it fills.
 */
const PIECE_BYTES = 8 * 1024 * 1024

/**
 * Reads a file directly into shared memory, without a copy on the calling thread. Throws the
 * system's error if it cannot be read, and an error if it shrinks during the read.
 */
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
