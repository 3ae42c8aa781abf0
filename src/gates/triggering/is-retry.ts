import type { Transaction } from '../../store/ports/transaction.js'
import { callbackSubject } from '../instances/callback-message.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { isDue } from '../instances/transition.js'

/** A request that is sent again for want of an answer comes soon: within the minute after which the orchestrator's queue does. */
const RETRY_WINDOW_MS = 120_000

/**
 * Whether a trigger that says the same as that of a known instance is the same request, sent again because its answer was lost,
 * and not a stage that was started again and must be decided again. The bodies are alike, but only who has had the answer knows
 * the instance: asking for its status, cancelling it or having been called back tells that nothing was lost.
 */
export async function isRetry(
  { outbox }: Pick<Transaction, 'outbox'>,
  instance: GateInstance,
  nowMs: number,
): Promise<boolean> {
  const { id, state, activatedMs, acknowledgedMs } = instance
  if (state === 'expired' || isDue(instance, nowMs)) return false
  // Nobody is asked twice for what nobody has decided yet.
  if (isOpen(state)) return true
  if (acknowledgedMs !== undefined) return false
  // A clock that was set back tells nothing of how long ago it was.
  if (activatedMs === undefined || Math.abs(nowMs - activatedMs) >= RETRY_WINDOW_MS) return false
  return !(await outbox.statesOf(callbackSubject(id))).includes('delivered')
}
