import type { Transaction } from '../store/transaction.js'
import type { Actor } from './actor.js'
import { instanceEntry } from './audit-entries.js'
import { callbackMessage } from './callback-message.js'
import type { GateInstance } from './gate-instance.js'
import { textDigest } from './text-digest.js'
import type { Closing } from './transition.js'

/** Ends an instance: its state, the record of it and the callback belong together. Gives the instance as it is then. */
export async function closeInstance(
  { gates, audit, outbox }: Transaction,
  instance: GateInstance,
  { state, comment, decidedBy }: Closing,
  actor: Actor,
): Promise<GateInstance> {
  const closed: GateInstance = {
    ...instance,
    state,
    comment,
    decidedBy,
    decidedMs: actor.nowMs,
    work: undefined,
  }
  await gates.updateInstance(closed)
  const { evidence } = await gates.findPapers(instance.id)
  const facts = { decidedBy, evidenceSha256: evidence === undefined ? undefined : textDigest(evidence) }
  await audit.append(instanceEntry(`gate.${state}`, closed, actor, facts))
  const message = callbackMessage(closed, actor.nowMs)
  if (message !== undefined) await outbox.enqueue(message)
  return closed
}
