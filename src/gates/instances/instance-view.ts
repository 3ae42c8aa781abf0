import { shownUrl } from '../../lib/outbound/shown-url.js'
import { redactSecrets } from '../../lib/redaction/redact.js'
import type { GateReader } from '../../store/ports/gate-store.js'
import type { OutboxReader, StoredMessage } from '../../store/ports/outbox-store.js'
import { callbackSubject } from './callback-message.js'
import { requireInstance } from './find-or-raise.js'
import type { GateInstance, Review } from '../../store/ports/gate-instance.js'
import type { Evidence } from '../connectors/tool/connectors.js'
import { claimedName } from '../../lib/text/claimed-name.js'
import { contractStatus } from './status-words.js'
import { excludedCommitters } from './committers.js'
import {
  approvalsNeeded,
  countedApprovals,
  expire,
  groupsOf,
  groupsWithoutApproval,
  isDue,
} from './transition.js'
import type { Approver } from './transition.js'
import type { Gate } from '../../store/ports/gate.js'

const MAX_CALLBACKS = 20

/** Response to a trigger (contract 2.1). */
export function triggerView({ id, gateId, state, activatedMs, createdMs }: GateInstance): object {
  return {
    id,
    approvalGateId: gateId,
    activatedTime: contractTime(activatedMs ?? createdMs),
    approvalStatus: { status: contractStatus(state) },
  }
}

/** Returns an instance as of a time: a due instance has expired, even if that is not stored yet. */
export function asOf(instance: GateInstance, nowMs: number): GateInstance {
  if (!isDue(instance, nowMs)) return instance
  const { state, comment } = expire(instance)
  return { ...instance, state, comment }
}

/** An instance in lists. `status` is one of the six states. */
export function instanceView(instance: GateInstance): object {
  const { id, gateId, gateName, application, executionId, state, comment, decidedBy } = instance
  return {
    id,
    approvalGateId: gateId,
    gateName,
    application,
    executionId,
    status: state,
    comment,
    triggeredBy: shownTrigger(instance),
    createdAt: isoTime(instance.createdMs),
    activatedAt: isoTime(instance.activatedMs),
    expiresAt: isoTime(instance.expiresMs),
    decidedAt: isoTime(instance.decidedMs),
    decidedBy,
    isEvidencePending: instance.work !== undefined,
    policyProblem: instance.policyProblem,
  }
}

/** The triggering user, marked if only claimed. */
export function shownTrigger({
  triggeredBy,
  triggerToken,
}: Pick<GateInstance, 'triggeredBy' | 'triggerToken'>): string | undefined {
  return triggeredBy === undefined || triggeredBy === triggerToken ? triggeredBy : claimedName(triggeredBy)
}

/** An instance with all related data, without secrets. */
export interface WholeInstance {
  readonly instance: GateInstance
  readonly gate: Gate | undefined
  readonly reviews: readonly Review[]
  /** Reviews that count as approvals. */
  readonly counted: readonly Review[]
  /** Groups that still need an approval. */
  readonly missingGroups: readonly string[]
  /** People who may not approve since they committed; undefined if unknown or irrelevant. */
  readonly committers: readonly string[] | undefined
  /** Body of the trigger; undefined before it. */
  readonly request: unknown
  readonly evidence: readonly Evidence[]
  readonly callbacks: readonly StoredMessage[]
}

interface InstanceReaders {
  readonly gates: GateReader
  readonly outbox: OutboxReader
}

/**
 * Collects all data of an instance. `approvers` and `committersInEvents` are as in a review. Raises
 * `not_found`.
 */
export async function collectInstance(
  { gates, outbox }: InstanceReaders,
  instanceId: number,
  nowMs: number,
  approvers: readonly Approver[] | undefined,
  committersInEvents?: readonly string[],
): Promise<WholeInstance> {
  const instance = asOf(await requireInstance(gates, instanceId), nowMs)
  const [gate, reviews, documents, callbacks] = await Promise.all([
    gates.findGate(instance.gateId),
    gates.reviewsOf(instanceId),
    gates.findDocuments(instanceId),
    outbox.list({ subject: callbackSubject(instanceId), limit: MAX_CALLBACKS }),
  ])
  const evidence = (shown(documents.evidence) ?? []) as readonly Evidence[]
  const committers = gate && excludedCommitters(gate, instance, evidence, committersInEvents)
  const counted =
    gate === undefined ? [] : countedApprovals(instance, gate, reviews, { approvers, committers })
  const groups = counted.map((review) => groupsOf(review, approvers))
  return {
    ...{ instance, gate, reviews, counted, request: shown(documents.request), evidence, callbacks },
    missingGroups: gate === undefined ? [] : groupsWithoutApproval(gate, groups),
    committers: gate?.committersMayApprove === false ? committers : undefined,
  }
}

/** Details of an instance in the API. Raises `not_found`. */
export async function instanceDetails(
  readers: InstanceReaders,
  instanceId: number,
  nowMs: number,
  approvers: readonly Approver[] | undefined,
  committersInEvents?: readonly string[],
): Promise<object> {
  const whole = await collectInstance(readers, instanceId, nowMs, approvers, committersInEvents)
  const { instance, gate, reviews, counted, request, evidence, callbacks } = whole
  return {
    ...instanceView(instance),
    approvals: counted.length,
    approvalsNeeded: gate && approvalsNeeded(gate),
    approvers: gate?.approvers,
    rules: gate && {
      eachGroup: gate.eachGroup === true,
      missingGroups: whole.missingGroups,
      triggererMayApprove: gate.triggererMayApprove,
      commentRequired: gate.commentRequired === true,
      committersMayApprove: gate.committersMayApprove !== false,
      committers: whole.committers,
    },
    reviews: reviews.map(({ timeMs, ...review }) => ({ ...review, at: isoTime(timeMs) })),
    request,
    evidence,
    callbacks: callbacks.map(callbackView),
  }
}

function callbackView({ id, url, state, attempts, lastStatus, lastError, settledMs }: StoredMessage): object {
  return { id, url: shownUrl(url), state, attempts, lastStatus, lastError, settledAt: isoTime(settledMs) }
}

/**
 * Parses a text without its secrets, which responses of tools and requests of earlier versions may
 * contain.
 */
function shown(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(redactSecrets(Buffer.from(text)).text.toString())
}

function isoTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString()
}

/** Formats a time as in the contract (section 2.1), in UTC: `2026-01-31 12:00:00.000.Z`. */
export function contractTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '.Z')
}

/** A gate in lists. */
export function gateView({ createdMs, changedMs, ...gate }: Gate): object {
  return {
    ...gate,
    createdAt: new Date(createdMs).toISOString(),
    changedAt: new Date(changedMs).toISOString(),
  }
}
