import { recordEvents } from '../../src/events/record-events.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import { makeEvent } from '../trail/events.js'

const PREPARED = 4000

/** How many events a second some stores keep together, each with so many callers that wait for one event at a time. */
export async function chainedRate(
  stores: readonly ServiceStore[],
  callers: number,
  seconds: number,
): Promise<number> {
  const events = Array.from({ length: PREPARED }, (_, index) => makeEvent(index).toString())
  let next = 0
  let kept = 0
  const startedAt = performance.now()
  const isOver = (): boolean => performance.now() - startedAt > seconds * 1000
  const call = async ({ writer }: ServiceStore): Promise<void> => {
    while (!isOver()) {
      const index = next++
      // Each event has an id of its own, as long as the others.
      const text = (events[index % PREPARED] ?? '').replace(/"eventId":"[^"]{12}/, idPart(index))
      const body = new TextEncoder().encode(text)
      await writer.run(recordEvents, [
        { endpoint: 'echo', body, receivedMs: Date.now(), origin: '127.0.0.1' },
      ])
      kept += 1
    }
  }
  await Promise.all(stores.flatMap((store) => Array.from({ length: callers }, () => call(store))))
  return (kept / (performance.now() - startedAt)) * 1000
}

function idPart(index: number): string {
  return `"eventId":"${String(index).padStart(12, '0')}`
}

/** Fills a trail with so many events, many in each commit. */
export async function fillTrail({ writer }: ServiceStore, records: number): Promise<void> {
  const AT_ONCE = 200
  for (let index = 0; index < records; index += AT_ONCE) {
    const bodies = Array.from({ length: Math.min(AT_ONCE, records - index) }, (_, offset) => ({
      endpoint: 'echo' as const,
      body: new Uint8Array(makeEvent(index + offset)),
      receivedMs: Date.now(),
      origin: '127.0.0.1',
    }))
    await writer.run(recordEvents, bodies)
  }
}
