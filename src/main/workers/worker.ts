import type { ChildProcess } from 'node:child_process'

import { ProcessLink, channelToChild } from '../../lib/processes/process-link.js'
import type { MainCalls, SentPolicies, WorkerCalls } from './worker-calls.js'

/** Beside the time that requests are given to end. */
const LAST_WORDS_MS = 5000

/** One process that decides beside the main one. */
export class Worker {
  readonly link: ProcessLink<WorkerCalls>
  /** Whether it takes requests. */
  isServing = false
  /** Whether it has policies, so that a save must reach it. */
  hasPolicies = false
  /** The policies that it is sent while it starts: their file must stay. */
  reads: SentPolicies | undefined
  /** How many times in a row it was looked at and had not answered since the time before. */
  silences = 0
  /** Whether it kept whoever last asked for its figures waiting in vain. */
  isLate = false
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

  /** Lets it answer what runs, and hand over what it holds; one that takes too long is killed. */
  async stop(drainMs: number): Promise<void> {
    const overdue = setTimeout(() => this.kill(), drainMs + LAST_WORDS_MS)
    try {
      if (this.isServing) await this.link.call('stop', drainMs)
      else this.kill()
    } catch {
      // It has ended.
    }
    // The end of the channel is for it the sign to go.
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
    clearTimeout(overdue)
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
