import { readFile } from 'node:fs/promises'

import { toSharedBytes } from '../../lib/in-slices.js'
import { hostBuiltins } from '../../pdp/builtins/index.js'
import { fromPortable } from '../../pdp/slow/portable-snapshot.js'
import type { Snapshot } from '../../pdp/snapshot/snapshot.js'
import type { DataImage } from '../../pdp/wasm/data/data-image.js'
import type { EvaluationLimits } from '../../pdp/wasm/evaluation-limits.js'
import type { SentImage, SentPolicies } from '../workers/worker-calls.js'

/** The policies of a worker: what the main process sends, ready before it serves. */
export class WorkerPolicies {
  readonly #limits: EvaluationLimits
  readonly #ready = new Map<number, Snapshot>()
  readonly #ids = new WeakMap<Snapshot, number>()
  #current: Snapshot
  #loading: Promise<unknown> = Promise.resolve()

  private constructor(limits: EvaluationLimits, first: Snapshot, id: number) {
    this.#limits = limits
    this.#current = first
    this.#ids.set(first, id)
  }

  /** With the policies that serve first. */
  static async open(sent: SentPolicies, limits: EvaluationLimits): Promise<WorkerPolicies> {
    return new WorkerPolicies(limits, await unpack(sent, limits), sent.id)
  }

  get current(): Snapshot {
    return this.#current
  }

  /** By which the main process knows a snapshot. */
  readonly idOf = (snapshot: Snapshot): number => this.#ids.get(snapshot) ?? 0

  /** Gets policies ready, after those that came before. */
  async load(sent: SentPolicies): Promise<void> {
    const loaded = this.#loading.then(() => unpack(sent, this.#limits))
    this.#loading = loaded.catch(() => undefined)
    const snapshot = await loaded
    this.#ids.set(snapshot, sent.id)
    this.#ready.set(sent.id, snapshot)
  }

  /** Has policies serve that are ready. */
  activate(id: number): void {
    const snapshot = this.#ready.get(id)
    if (snapshot !== undefined) this.#current = snapshot
    this.#ready.clear()
  }
}

async function unpack({ snapshot, image }: SentPolicies, limits: EvaluationLimits): Promise<Snapshot> {
  return await fromPortable(snapshot, await readImage(image), hostBuiltins, limits)
}

/** In shared memory, as where it was made: the slow threads of this process would share it. */
async function readImage({ base, root, content }: SentImage): Promise<DataImage> {
  const bytes = typeof content === 'string' ? await readFile(content) : content
  return { base, root, bytes: await toSharedBytes(bytes) }
}
