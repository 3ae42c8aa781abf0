import type { Logger } from '../../lib/logger.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'

/** Tells of threads that ended by themselves. */
export interface ThreadWatch {
  readonly died: (death: ThreadDeath) => void
  /** How often each thread has died since the start of the service. */
  readonly deaths: () => ReadonlyMap<string, number>
}

/** Writes each death of a thread to the log and counts it. */
export function watchThreads(logger: Logger): ThreadWatch {
  const deaths = new Map<string, number>()
  return {
    died: ({ thread, reason, recent }) => {
      deaths.set(thread, (deaths.get(thread) ?? 0) + 1)
      logger.error({ thread, error: reason, recent }, 'a thread has ended; it is started again')
    },
    deaths: () => deaths,
  }
}
