import type { ChildProcess } from 'node:child_process'

import { ProcessLink, channelToChild } from '../../lib/processes/process-link.js'
import type { MainCalls, SentPolicies, WorkerCalls } from './worker-calls.js'

/** Extra time after the drain time. */
const STOP_GRACE_MS = 5000

/** One worker process. */
export class WorkerProcess {
  readonly link: ProcessLink<WorkerCalls>
  /** Whether it accepts requests. */
  isServing = false
  /** Whether it has policies. If so, it must receive each later load. */
  hasPolicies = false
  /** The policies it receives while it starts. Their file must not be removed. */
  reads: SentPolicies | undefined
  /** Number of successive checks without an answer. */
  silences = 0
  /** Why it ended: a signal, an exit code or an error. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess

  constructor(child: ChildProcess, main: MainCalls) {
    this.#child = child
    this.link = new ProcessLink<WorkerCalls>(channelToChild(child), main)
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 0}`))
      child.once('error', ({ message }) => resolve(message))
    })
    void this.ended.then(() => this.link.close())
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /**
   * Lets it answer running requests and hand over buffered decisions. Kills it if that takes too
   * long.
   */
  async stop(drainMs: number): Promise<void> {
    const overdue = setTimeout(() => this.kill(), drainMs + STOP_GRACE_MS)
    try {
      if (this.isServing) await this.link.call('stop', drainMs)
      else this.kill()
    } catch {
      // It has ended.
    }
    // Closing the channel ends the process.
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
    clearTimeout(overdue)
  }

  /** Kills it. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
