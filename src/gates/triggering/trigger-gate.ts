import { maskPointers } from '../../lib/json/edit/mask-pointers.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import { redactSecrets } from '../../lib/redaction/redact.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance, InstanceWork } from '../../store/ports/gate-instance.js'
import type { GateRepository } from '../../store/ports/gate-store.js'
import type { Gate } from '../../store/ports/gate.js'
import type { WriteOperation, Transaction } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { callbackSubject } from '../instances/callback-message.js'
import { textDigest } from '../instances/close-instance.js'
import { requireEnabledGate, requireGate } from '../instances/find-or-raise.js'
import { firstNoticeMs } from '../instances/reminders.js'
import { isDue } from '../instances/transition.js'
import { expiryOf, reservedInstance } from './new-instance.js'

export interface TriggerRequest {
  readonly gateId: number
  readonly executionId: string
  readonly approvalCallbackUrl: string
  readonly rejectionCallbackUrl: string
  /** The whole body as canonical JSON, so that equal bodies are equal texts. */
  readonly body: string
  /** Whether the trigger requests evidence from connectors. */
  readonly requestsEvidence: boolean
  readonly triggeredBy: string | undefined
  readonly triggerToken: string | undefined
  readonly actor: Actor
}

export interface Triggered {
  readonly instance: GateInstance
  /** False for a repeated trigger. */
  readonly isNew: boolean
}

/**
 * Starts an instance, or activates the one reserved for the execution. A repeated request returns
 * the same instance. Raises `not_found`, or `conflict` for a removed gate.
 */
export const triggerGate: WriteOperation<TriggerRequest, Triggered> = {
  name: 'gates.trigger',
  apply: async (transaction, request) => {
    const { gates, audit } = transaction
    const { gateId, executionId, body, actor } = request
    const bodyDigest = textDigest(body)
    await requireGate(gates, gateId)
    const known = await gates.findTriggered({ gateId, executionId, bodyDigest })
    if (known !== undefined && (await isRetry(transaction, known, actor.nowMs))) {
      return { instance: known, isNew: false }
    }
    const gate = await requireEnabledGate(gates, gateId)
    const instance = await activate(gates, gate, request, bodyDigest)
    await gates.saveDocuments(instance.id, { request: shownRequest(request) })
    const { approvalCallbackUrl, rejectionCallbackUrl, triggerToken } = request
    const facts = {
      bodySha256: bodyDigest,
      approvalCallbackUrl: shownUrl(approvalCallbackUrl),
      rejectionCallbackUrl: shownUrl(rejectionCallbackUrl),
      triggerToken,
    }
    await audit.append(instanceEntry('gate.activated', instance, actor, facts))
    return { instance, isNew: true }
  },
}

/**
 * The body for people, connectors and policies, without secrets. Only the sender of callbacks needs
 * the full URLs.
 */
function shownRequest({ body, approvalCallbackUrl, rejectionCallbackUrl }: TriggerRequest): string {
  const urls = { approvalCallbackURL: approvalCallbackUrl, rejectionCallbackURL: rejectionCallbackUrl }
  const shownBody = Object.entries(urls).reduce((text, [member, url]) => {
    const shown = shownUrl(url)
    if (shown === url) return text
    return maskPointers(Buffer.from(text), [[member]], JSON.stringify(shown)).bytes.toString()
  }, body)
  return redactSecrets(Buffer.from(shownBody)).text.toString()
}

async function activate(
  gates: GateRepository,
  gate: Gate,
  request: TriggerRequest,
  bodyDigest: string,
): Promise<GateInstance> {
  const { nowMs } = request.actor
  const reserved = await gates.findReserved(gate.id, request.executionId)
  const activated = Object.assign({}, reserved ?? reservedInstance(gate, request.executionId, nowMs), {
    state: 'activated' as const,
    activatedMs: nowMs,
    expiresMs: expiryOf(gate, nowMs),
    noticeMs: firstNoticeMs(gate, nowMs, expiryOf(gate, nowMs)),
    triggeredBy: request.triggeredBy,
    triggerToken: request.triggerToken,
    bodyDigest,
    approvalCallbackUrl: request.approvalCallbackUrl,
    rejectionCallbackUrl: request.rejectionCallbackUrl,
    work: firstWork(gate, request),
  })
  if (reserved === undefined) return { id: await gates.addInstance(activated), ...activated }
  const instance = { ...activated, id: reserved.id }
  await gates.updateInstance(instance)
  return instance
}

function firstWork({ policy }: Gate, { requestsEvidence }: TriggerRequest): InstanceWork | undefined {
  if (requestsEvidence) return 'evidence'
  return policy === undefined ? undefined : 'policy'
}

/** Time within which the orchestrator's queue repeats a request without a response (one minute). */
const RETRY_WINDOW_MS = 120_000

/**
 * Whether a trigger with the same body is a repeated request whose response was lost, or a
 * restarted stage that needs a new decision. A caller that polled the status, cancelled, or
 * received the callback had the response, so nothing was lost.
 */
async function isRetry(
  { outbox }: Pick<Transaction, 'outbox'>,
  instance: GateInstance,
  nowMs: number,
): Promise<boolean> {
  const { id, state, activatedMs, acknowledgedMs } = instance
  if (state === 'expired' || isDue(instance, nowMs)) return false
  // An undecided instance can serve both.
  if (isOpen(state)) return true
  if (acknowledgedMs !== undefined) return false
  // A clock that was set back makes the age unknown.
  if (activatedMs === undefined || Math.abs(nowMs - activatedMs) >= RETRY_WINDOW_MS) return false
  return !(await outbox.statesOf(callbackSubject(id))).includes('delivered')
}
