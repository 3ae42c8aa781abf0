import { Worker } from 'node:worker_threads'

import type { ShadowView } from '../impact/shadow-view.js'
import { threadScript } from '../lib/package-root.js'
import { packSnapshot, type Snapshot, type Stage } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { Reloads } from './reload/reloads.js'
import type { ShadowMessage, ShadowProgress, ShadowThreadOptions } from './threads/shadow-thread.js'

const SCRIPT = threadScript('shadow')
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 }
const RESTART_MS = 60_000
const CHECK_MS = 1000

/** Policies that are compared with those that serve. */
interface Compared {
  readonly serving: Snapshot
  /** Undefined for `policies.shadow`. */
  readonly staged: Stage | undefined
}

interface ThreadParts {
  readonly exceptions: () => readonly PolicyException[]
  readonly reloads: Pick<Reloads, 'config'>
  /** Returns what to compare now; undefined for nothing. */
  readonly compared: () => Compared | undefined
  /** Called each second, with the latest report of a running thread. */
  readonly checked?: (progress: ShadowProgress | undefined) => void
  readonly failed: (error: string) => void
}

/** A thread that compares while there is something to compare, with its latest report. */
export class ShadowThread {
  readonly #parts: ThreadParts
  readonly #check: NodeJS.Timeout
  #thread: Worker | undefined
  #compared: Compared | undefined
  #retryAtMs = 0
  #view: ShadowView
  #progress: ShadowProgress | undefined

  constructor(parts: ThreadParts) {
    this.#parts = parts
    this.#view = this.#newView()
    this.#check = setInterval(() => {
      this.#startIfNeeded()
      parts.checked?.(this.#progress)
    }, CHECK_MS).unref()
    this.#startIfNeeded()
  }

  get view(): ShadowView {
    return this.#view
  }

  /** The latest report of a running thread. */
  get progress(): ShadowProgress | undefined {
    return this.#progress
  }

  async close(): Promise<void> {
    clearInterval(this.#check)
    await this.#thread?.terminate()
  }

  #newView(): ShadowView {
    const { sharePercent } = this.#parts.reloads.config.policies.shadow
    return { state: 'compiling', since: new Date().toISOString(), sharePercent, dropped: 0, leftOut: 0 }
  }

  #startIfNeeded(): void {
    const compared = this.#parts.compared()
    const { serving, staged } = this.#compared ?? {}
    const isSame = compared?.serving === serving && compared?.staged?.snapshot === staged?.snapshot
    const isSettled = compared === undefined || this.#thread !== undefined
    if (isSame && (isSettled || performance.now() < this.#retryAtMs)) return
    void this.#thread?.terminate()
    this.#thread = undefined
    this.#compared = compared
    this.#progress = undefined
    this.#view = this.#newView()
    if (compared !== undefined) this.#thread = this.#start(compared)
  }

  #start({ serving, staged }: Compared): Worker {
    const { reloads, exceptions } = this.#parts
    const { dataDir, policies } = reloads.config
    const workerData: ShadowThreadOptions = {
      config: { dataDir, policies },
      serving: packSnapshot(serving),
      exceptions: exceptions(),
      staged: staged && { policies: packSnapshot(staged.snapshot), sinceMs: staged.since.getTime() },
    }
    const thread = new Worker(SCRIPT, { workerData, resourceLimits: THREAD_LIMITS })
    thread.unref()
    thread.on('message', (message: ShadowMessage) => {
      if (thread !== this.#thread) return
      if (message.type === 'failed') {
        this.#fail(message.failure.message)
        return
      }
      const { dropped, leftOut, result } = message.progress
      this.#progress = message.progress
      this.#view = { ...this.#view, state: 'running', dropped, leftOut, result }
    })
    thread.on('error', (error: Error) => {
      if (thread === this.#thread) this.#fail(error.message)
    })
    thread.on('exit', () => {
      if (thread === this.#thread) this.#thread = undefined
    })
    return thread
  }

  #fail(error: string): void {
    this.#retryAtMs = performance.now() + RESTART_MS
    this.#progress = undefined
    this.#view = { ...this.#view, state: 'failed', error }
    this.#parts.failed(error)
  }
}
