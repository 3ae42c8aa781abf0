import type { Writer } from '../store/transaction.js'
import { purgeSettled } from './outbox-operations.js'

/** So many at most in one transaction, so that nobody waits for all of them. */
const AT_ONCE = 500

/** Deletes all messages that were settled before a time; gives how many. */
export async function purgeMessages(writer: Writer, beforeMs: number): Promise<number> {
  let all = 0
  for (;;) {
    const deleted = await writer.run(purgeSettled, { beforeMs, limit: AT_ONCE })
    all += deleted
    if (deleted < AT_ONCE) return all
  }
}
