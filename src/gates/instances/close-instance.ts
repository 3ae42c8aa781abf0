import type { GateReader } from '../../store/ports/gate-store.js'
import type { Transaction } from '../../store/ports/transaction.js'
import type { Actor } from './actor.js'
import { instanceEntry } from './audit-entries.js'
import { callbackMessage } from './callback-message.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { Closing } from './transition.js'
import { createHash } from 'node:crypto'

/** Closes an instance with its audit record and callback. Returns the closed instance. */
export async function closeInstance(
  { gates, audit, outbox }: Transaction,
  instance: GateInstance,
  { state, comment, decidedBy, onBehalfOf }: Closing & { readonly onBehalfOf?: string | undefined },
  actor: Actor,
): Promise<GateInstance> {
  // No spread: V8 would create new hidden classes for members that change their type.
  const closed: GateInstance = Object.assign({}, instance, {
    state,
    comment,
    decidedBy,
    decidedMs: actor.nowMs,
    work: undefined,
    noticeMs: undefined,
  })
  await gates.updateInstance(closed)
  const facts = { decidedBy, onBehalfOf, evidenceSha256: await evidenceDigest(gates, instance.id) }
  await audit.append(instanceEntry(`gate.${state}`, closed, actor, facts))
  const message = callbackMessage(closed, actor.nowMs)
  if (message !== undefined) await outbox.enqueue(message)
  return closed
}

/** SHA-256 of an instance's evidence; undefined without any. */
export async function evidenceDigest(
  gates: Pick<GateReader, 'findDocuments'>,
  instanceId: number,
): Promise<string | undefined> {
  const { evidence } = await gates.findDocuments(instanceId)
  return evidence === undefined ? undefined : textDigest(evidence)
}

/** SHA-256 of a text, in hex. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
