import { setTimeout as sleep } from 'node:timers/promises'

import { hasErrorCode } from '../../../src/errors/app-error.js'
import { seededRandom } from '../random-bytes.js'
import { makeChaosService } from './chaos-service.js'
import { noPromises, writeUntil } from './mixed-writes.js'

interface StopOptions {
  readonly rounds: number
  readonly callers: number
  /** How long the load runs before each SIGTERM, in milliseconds. */
  readonly loadMs: number
  readonly seed: number
  readonly finished?: (round: number) => void
}

interface StopResult {
  /** Requests that were sent and not answered, with their connection errors. */
  readonly cut: readonly string[]
  /** Exit codes of the service, one a round. */
  readonly codes: readonly (number | null)[]
  /** From the signal to the end of the process, in milliseconds. */
  readonly durationsMs: readonly number[]
}

/** Stops a service (SIGTERM) repeatedly while clients continue over kept-alive connections. */
export async function stopRepeatedly(options: StopOptions): Promise<StopResult> {
  const service = await makeChaosService()
  const random = seededRandom(options.seed)
  const cut: string[] = []
  const codes: (number | null)[] = []
  const durationsMs: number[] = []
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      const tidegate = await service.start()
      const target = { url: tidegate.url, callbackUrl: service.receiver.url, promised: noPromises() }
      const callers = Array.from({ length: options.callers }, () => writeUntil(target, random, () => false))
      await sleep(options.loadMs)
      const signalledAt = performance.now()
      codes.push(await tidegate.end('SIGTERM'))
      durationsMs.push(performance.now() - signalledAt)
      for (const error of await Promise.all(callers)) {
        // A new connection is refused once no one listens, so nothing was sent over it.
        if (error !== undefined && !hasErrorCode(error, 'ECONNREFUSED'))
          cut.push(`round ${round}: ${error.message}`)
      }
      options.finished?.(round)
    }
    return { cut, codes, durationsMs }
  } finally {
    await service.remove()
  }
}
