import { writeSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

import type { LoggerOptions } from '../../lib/logger.js'
import { timesOfThread } from '../../lib/threads/thread-cpu-time.js'

const HEARTBEAT = 'tidegate_heartbeat'
const BEAT_MS = 1000
const LOOK_MS = 5000
/** How long the main thread may work without a beat. A worker process is ended after as long without an answer. */
const MAX_HELD_MS = 30_000
const STANDARD_ERROR = 2

interface Heartbeat {
  /** The count of beats, in shared memory; 0 until the service serves. */
  readonly beats: Int32Array
  readonly log: LoggerOptions
}

/** Shares a heartbeat with all threads that start after this call. Returns what begins the beats, from which the watch counts. */
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
 * Watches the main thread from the calling one, which has to be another. Ends the process with SIGKILL when something holds the
 * main thread, so that a supervisor starts the service again. The threads that write call this, and several watches disturb nobody:
 * a thread for the watch alone takes some 10 MB. Does nothing in a process without a heartbeat.
 */
export function watchMainThread(): void {
  const heartbeat = getEnvironmentData(HEARTBEAT) as Heartbeat | undefined
  if (heartbeat === undefined) return
  // On Linux the main thread has the number of its process.
  const watch = new MainThreadWatch(heartbeat.beats, () => timesOfThread(process.pid)?.onCoreMs)
  const timer = setInterval(() => {
    if (watch.look() < MAX_HELD_MS) return
    clearInterval(timer)
    void endProcess(heartbeat.log)
  }, LOOK_MS).unref()
}

async function endProcess(log: LoggerOptions): Promise<void> {
  // The stream of a thread's standard error needs the main thread.
  const write = (line: string): void => void writeSync(STANDARD_ERROR, line)
  try {
    const { makeLogger } = await import('../../lib/logger.js')
    const seconds = MAX_HELD_MS / 1000
    makeLogger(log, { write }).fatal(
      `the main thread is held for over ${seconds} s: the process ends by SIGKILL`,
    )
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

/**
 * Counts how long a thread works without a beat. Time that the thread waits for a core or is stopped by a debugger does not count,
 * and neither does time between two looks beyond `LOOK_MS`: the whole process was stopped then.
 */
export class MainThreadWatch {
  readonly #beats: Int32Array
  readonly #onCoreMs: () => number | undefined
  #seenBeats = 0
  #seenOnCoreMs: number | undefined
  #heldMs = 0

  /** `onCoreMs` returns the thread's time on a core so far; undefined where the system does not report it. */
  constructor(beats: Int32Array, onCoreMs: () => number | undefined) {
    this.#beats = beats
    this.#onCoreMs = onCoreMs
  }

  /** Looks again, every `LOOK_MS`. Returns how long the thread has worked since it last beat, in milliseconds. */
  look(): number {
    const beats = Atomics.load(this.#beats, 0)
    const onCoreMs = this.#onCoreMs()
    const workedMs = onCoreMs === undefined ? LOOK_MS : onCoreMs - (this.#seenOnCoreMs ?? onCoreMs)
    this.#heldMs = beats === this.#seenBeats && beats !== 0 ? this.#heldMs + Math.min(workedMs, LOOK_MS) : 0
    this.#seenBeats = beats
    this.#seenOnCoreMs = onCoreMs
    return this.#heldMs
  }
}
