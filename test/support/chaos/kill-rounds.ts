import { setTimeout as sleep } from 'node:timers/promises'

import { seededRandom } from '../random-bytes.js'
import { waitUntil } from '../wait-until.js'
import { makeChaosService } from './chaos-service.js'
import { findBrokenPromises } from './check-promises.js'
import { durableWrites, noPromises, writeUntil } from './mixed-writes.js'
import type { Promised } from './mixed-writes.js'

/** Every `analysisEvery` rounds one continues until an analysis is registered. */
const REGISTERING_EVERY = 5

interface KillOptions {
  readonly rounds: number
  readonly callers: number
  /** The longest time from the first acknowledgement of a round to its kill, in milliseconds. */
  readonly longestMs: number
  readonly seed: number
  readonly finished?: (round: number) => void
}

/** Services that share a database may be of two builds. */
export interface ReplicaKillOptions extends KillOptions {
  /**
   * The program of an older build. Both services start with it first, and later as often with it as
   * with this build.
   */
  readonly old?: string | undefined
}

export interface KillResult {
  readonly promised: Promised
  /** In sentences; none when nothing acknowledged was lost, doubled or broken. */
  readonly problems: readonly string[]
}

/**
 * Kills a service (SIGKILL) again and again under mixed load, and looks afterwards for everything
 * that it acknowledged.
 */
export async function killRepeatedly(options: KillOptions): Promise<KillResult> {
  const service = await makeChaosService()
  const random = seededRandom(options.seed)
  const promised = noPromises()
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      const tidegate = await service.start()
      let isKilled = false
      const target = { url: tidegate.url, callbackUrl: service.receiver.url, promised }
      const callers = Array.from({ length: options.callers }, () =>
        writeUntil(target, random, () => isKilled),
      )
      // The first registration starts a thread, for which few rounds would be long enough.
      const counted = round % REGISTERING_EVERY === 0 ? registrations : durableWrites
      const before = counted(promised)
      await Promise.race([untilMore(() => counted(promised), before), Promise.all(callers)])
      await sleep(random() * options.longestMs)
      await tidegate.end('SIGKILL')
      isKilled = true
      await Promise.all(callers)
      options.finished?.(round)
    }
    const tidegate = await service.start()
    const problems = await findBrokenPromises(tidegate.url, promised, service.receiver.received)
    const code = await tidegate.end('SIGTERM')
    return { promised, problems: code === 0 ? problems : [...problems, `the last stop ended with ${code}`] }
  } finally {
    await service.remove()
  }
}

async function untilMore(count: () => number, before: number): Promise<void> {
  await waitUntil(
    () => count() > before || undefined,
    () => 'nothing is acknowledged',
  )
}

function registrations({ analyses }: Promised): number {
  return analyses.size
}
