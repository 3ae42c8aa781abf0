import { afterEach, beforeEach } from 'vitest'

import { startEventReceiver } from './event-receiver.js'
import type { EventReceiver } from './event-receiver.js'
import { startTidegate } from './tidegate-process.js'
import type { ServeSettings, TidegateProcess } from './tidegate-process.js'
import { waitUntil } from './wait-until.js'

interface ReceivedEvents {
  readonly receiver: () => EventReceiver
  /** Starts the service, which ends after the test. */
  readonly start: (settings: ServeSettings) => Promise<TidegateProcess>
  /** Waits for a number of events, by default at the receiver of the test. */
  readonly untilEvents: (count: number, at?: EventReceiver) => Promise<void>
}

/** A receiver of decision events for each test, and the service that sends them. */
export function useEventReceiver(): ReceivedEvents {
  let receiver: EventReceiver
  let tidegate: TidegateProcess | undefined
  beforeEach(async () => {
    receiver = await startEventReceiver()
  })
  afterEach(async () => {
    await tidegate?.end('SIGTERM')
    tidegate = undefined
    await receiver.close()
  })
  return {
    receiver: () => receiver,
    start: async (settings) => (tidegate = await startTidegate(settings)),
    untilEvents: async (count, at = receiver) => {
      await waitUntil(
        () => (at.events.length >= count ? true : undefined),
        () => `${at.events.length} of ${count} events arrived`,
      )
    },
  }
}
