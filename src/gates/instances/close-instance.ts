import type { GateReader } from '../../store/ports/gate-store.js'
import type { Transaction } from '../../store/ports/transaction.js'
import type { Actor } from './actor.js'
import { instanceEntry } from './audit-entries.js'
import { callbackMessage } from './callback-message.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { Closing } from './transition.js'
import { createHash } from 'node:crypto'

/** Ends an instance: its state, the record of it and the callback belong together. Returns the instance as it is then. */
export async function closeInstance(
  { gates, audit, outbox }: Transaction,
  instance: GateInstance,
  { state, comment, decidedBy }: Closing,
  actor: Actor,
): Promise<GateInstance> {
  // Not spread: members that change their type would have V8 make hidden classes anew each time.
  const closed: GateInstance = Object.assign({}, instance, {
    state,
    comment,
    decidedBy,
    decidedMs: actor.nowMs,
    work: undefined,
  })
  await gates.updateInstance(closed)
  const facts = { decidedBy, evidenceSha256: await evidenceDigest(gates, instance.id) }
  await audit.append(instanceEntry(`gate.${state}`, closed, actor, facts))
  const message = callbackMessage(closed, actor.nowMs)
  if (message !== undefined) await outbox.enqueue(message)
  return closed
}

/** The SHA-256 of the evidence that is beside an instance; undefined while there is none. */
export async function evidenceDigest(
  gates: Pick<GateReader, 'findDocuments'>,
  instanceId: number,
): Promise<string | undefined> {
  const { evidence } = await gates.findDocuments(instanceId)
  return evidence === undefined ? undefined : textDigest(evidence)
}

/** The SHA-256 of a text, in hex. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
