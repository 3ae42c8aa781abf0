import { MessageChannel } from 'node:worker_threads'

import { hostBuiltins } from '../../src/rego/builtins/index.js'
import { serveQuestions } from '../../src/rego/slow/serve-questions.js'
import { SlowEvaluations } from '../../src/rego/slow/slow-evaluations.js'
import type { SlowEnd, SlowSettings } from '../../src/rego/slow/slow-evaluations.js'
import { givenAway } from '../../src/rego/slow/messages.js'
import type { FromSlowThread, SlowThreadEvents, StartSlowThread } from '../../src/rego/slow/messages.js'
import { DEFAULT_LIMITS } from './default-limits.js'

const SETTINGS: SlowSettings = {
  threads: 1,
  queueLength: 4,
  queueBytes: 1_000_000,
  maxWaitMs: 60_000,
  idleMs: 60_000,
}

/**
 * A "slow thread" on this very thread: it is sent the same messages, cloned or given away as
 * between threads, and runs the same code.
 */
export const startOnThisThread: StartSlowThread = ({ heard }) => {
  const { port1, port2 } = new MessageChannel()
  serveQuestions(port1, hostBuiltins)
  port2.on('message', (message: FromSlowThread) => heard(message))
  return { send: (message) => port2.postMessage(message, givenAway(message)), kill: () => port2.close() }
}

/** A thread without its own work. The test sends its messages. */
interface SilentThread extends SlowThreadEvents {
  readonly sent: unknown[]
  isKilled: boolean
}

/** Threads under the test's control, in the order of their start. */
export function silentThreads(): { readonly threads: SilentThread[]; readonly start: StartSlowThread } {
  const threads: SilentThread[] = []
  return {
    threads,
    start: (events) => {
      const thread: SilentThread = { ...events, sent: [], isKilled: false }
      threads.push(thread)
      return {
        send: (message) => void thread.sent.push(message),
        kill: () => {
          thread.isKilled = true
        },
      }
    },
  }
}

/**
 * Slow evaluations by threads that the test starts, with settings that differ from the usual ones
 * here.
 */
export function makeSlowEvaluations(
  start: StartSlowThread,
  settings: Partial<SlowSettings> = {},
  ended: (how: SlowEnd) => void = () => undefined,
): SlowEvaluations {
  return new SlowEvaluations({
    start,
    limits: DEFAULT_LIMITS,
    timesOf: () => undefined,
    settings: { ...SETTINGS, ...settings },
    ended,
  })
}
