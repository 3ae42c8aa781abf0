import type { OutboxReader } from '../store/ports/outbox-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { purgeSettled } from './outbox-operations.js'

export interface PurgeDeps {
  readonly writer: Writer
  readonly outbox: Pick<OutboxReader, 'oldestSettledMs'>
}

/** At most this many in one transaction, so that nobody waits for all of them. */
const AT_ONCE = 500

/** Deletes all messages that were settled before a time; returns how many. Writes nothing where there are none. */
export async function purgeMessages({ writer, outbox }: PurgeDeps, beforeMs: number): Promise<number> {
  const oldestMs = await outbox.oldestSettledMs()
  if (oldestMs === undefined || oldestMs >= beforeMs) return 0
  let all = 0
  for (;;) {
    const deleted = await writer.run(purgeSettled, { beforeMs, limit: AT_ONCE })
    all += deleted
    if (deleted < AT_ONCE) return all
  }
}
