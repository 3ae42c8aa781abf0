import { writeSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

import type { LoggerOptions } from '../../lib/logger.js'
import { timesOfThread } from '../../lib/threads/thread-cpu-time.js'

const HEARTBEAT = 'tidegate_heartbeat'
const BEAT_MS = 1000
const CHECK_MS = 5000
/**
 * How long the main thread may work without a beat. A worker process is ended after the same time
 * without an answer.
 */
const MAX_HELD_MS = 30_000
const STANDARD_ERROR = 2

interface Heartbeat {
  /** Number of beats, in shared memory. 0 until the service serves. */
  readonly beats: Int32Array
  readonly log: LoggerOptions
}

/**
 * Shares a heartbeat with all threads started after this call. Returns the function that starts the
 * beats.
 */
export function shareHeartbeat(log: LoggerOptions): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  setEnvironmentData(HEARTBEAT, { beats, log } satisfies Heartbeat)
  const beat = (): void => void Atomics.add(beats, 0, 1)
  return () => {
    beat()
    setInterval(beat, BEAT_MS).unref()
  }
}

/**
 * Watches the main thread from another one. Ends the process with SIGKILL when the main thread is
 * blocked, so that a supervisor restarts the service. Each writing thread calls this, because a
 * separate thread would take some 10 MB; several watches do no harm. Does nothing in a process
 * without a heartbeat.
 */
export function watchMainThread(): void {
  const heartbeat = getEnvironmentData(HEARTBEAT) as Heartbeat | undefined
  if (heartbeat === undefined) return
  // On Linux the thread id of the main thread is the process id.
  const watch = new MainThreadWatch(heartbeat.beats, () => timesOfThread(process.pid)?.onCoreMs)
  const timer = setInterval(() => {
    if (watch.check() < MAX_HELD_MS) return
    clearInterval(timer)
    void endProcess(heartbeat.log)
  }, CHECK_MS).unref()
}

async function endProcess(log: LoggerOptions): Promise<void> {
  // A thread's own stream to standard error needs the main thread.
  const write = (line: string): void => void writeSync(STANDARD_ERROR, line)
  try {
    const { makeLogger } = await import('../../lib/logger.js')
    const seconds = MAX_HELD_MS / 1000
    makeLogger(log, { write }).fatal(
      `the main thread has been blocked for over ${seconds} s: the process ends with SIGKILL`,
    )
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

/**
 * Measures how long a thread works without a beat. Time in which it waits for a core or is stopped
 * by a debugger does not count. Neither does time between two checks beyond `CHECK_MS`, in which
 * the whole process was stopped.
 */
export class MainThreadWatch {
  readonly #beats: Int32Array
  readonly #onCoreMs: () => number | undefined
  #seenBeats = 0
  #seenOnCoreMs: number | undefined
  #heldMs = 0

  /**
   * `onCoreMs` returns the thread's CPU time so far. Undefined if the system does not report it.
   */
  constructor(beats: Int32Array, onCoreMs: () => number | undefined) {
    this.#beats = beats
    this.#onCoreMs = onCoreMs
  }

  /**
   * Updates the measurement; call it every `CHECK_MS`. Returns how long the thread has worked since
   * its last beat, in milliseconds.
   */
  check(): number {
    const beats = Atomics.load(this.#beats, 0)
    const onCoreMs = this.#onCoreMs()
    const workedMs = onCoreMs === undefined ? CHECK_MS : onCoreMs - (this.#seenOnCoreMs ?? onCoreMs)
    this.#heldMs = beats === this.#seenBeats && beats !== 0 ? this.#heldMs + Math.min(workedMs, CHECK_MS) : 0
    this.#seenBeats = beats
    this.#seenOnCoreMs = onCoreMs
    return this.#heldMs
  }
}
