import type { Generated } from 'kysely'
import type { Gate, GateDefinition, GateOrigin } from '../ports/gate.js'
import type {
  Delegation,
  GateInstance,
  InstanceState,
  InstanceWork,
  NewInstance,
  Review,
  ReviewAction,
} from '../ports/gate-instance.js'

/** The tables of the gates, as Kysely sees them. */
export interface GatesTable {
  id: number
  name: string
  origin: GateOrigin
  is_enabled: 0 | 1
  /** All other members of the gate, as JSON. */
  definition: string
  created_ms: number
  changed_ms: number
}

export interface GateInstancesTable {
  id: Generated<number>
  gate_id: number
  gate_name: string
  application: string | null
  execution_id: string
  state: InstanceState
  comment: string
  created_ms: number
  activated_ms: number | null
  expires_ms: number
  decided_ms: number | null
  decided_by: string | null
  triggered_by: string | null
  trigger_token: string | null
  body_digest: string | null
  approval_callback_url: string | null
  rejection_callback_url: string | null
  work: InstanceWork | null
  acknowledged_ms: number | null
  policy_problem: string | null
  notice_ms: number | null
}

export interface InstanceDocumentsTable {
  instance_id: number
  request: string | null
  evidence: string | null
}

export interface GateReviewsTable {
  id: Generated<number>
  instance_id: number
  person: string
  action: ReviewAction
  comment: string
  time_ms: number
  /** JSON list. */
  person_groups: string | null
  on_behalf_of: string | null
}

export interface GateDelegationsTable {
  id: Generated<number>
  from_person: string
  to_person: string
  person_groups: string
  reason: string
  created_ms: number
  until_ms: number
}

export type NewInstanceRow = Omit<GateInstancesTable, 'id'>
export type InstanceRow = NewInstanceRow & { readonly id: number }

/** The columns of a gate. */
export const GATE_COLUMNS = [
  'id',
  'name',
  'origin',
  'is_enabled',
  'definition',
  'created_ms',
  'changed_ms',
] as const satisfies readonly (keyof GatesTable)[]

/** The columns of an instance without its number. */
export const INSTANCE_COLUMNS = [
  'gate_id',
  'gate_name',
  'application',
  'execution_id',
  'state',
  'comment',
  'created_ms',
  'activated_ms',
  'expires_ms',
  'decided_ms',
  'decided_by',
  'triggered_by',
  'trigger_token',
  'body_digest',
  'approval_callback_url',
  'rejection_callback_url',
  'work',
  'acknowledged_ms',
  'policy_problem',
  'notice_ms',
] as const satisfies readonly (keyof NewInstanceRow)[]

export function toGate(row: GatesTable): Gate {
  // The spread comes last: V8 creates a new hidden class for every member after it, which costs
  // more than reading the row.
  return {
    id: row.id,
    name: row.name,
    origin: row.origin,
    isEnabled: row.is_enabled === 1,
    createdMs: row.created_ms,
    changedMs: row.changed_ms,
    ...(JSON.parse(row.definition) as Omit<GateDefinition, 'name'>),
  }
}

export function fromGate(gate: Gate): GatesTable {
  const { id, name, origin, isEnabled, createdMs, changedMs, ...definition } = gate
  return {
    id,
    name,
    origin,
    is_enabled: isEnabled ? 1 : 0,
    definition: JSON.stringify(definition),
    created_ms: createdMs,
    changed_ms: changedMs,
  }
}

export function toInstance(row: InstanceRow): GateInstance {
  return {
    id: row.id,
    gateId: row.gate_id,
    gateName: row.gate_name,
    application: row.application ?? undefined,
    executionId: row.execution_id,
    state: row.state,
    comment: row.comment,
    createdMs: row.created_ms,
    activatedMs: row.activated_ms ?? undefined,
    expiresMs: row.expires_ms,
    decidedMs: row.decided_ms ?? undefined,
    decidedBy: row.decided_by ?? undefined,
    triggeredBy: row.triggered_by ?? undefined,
    triggerToken: row.trigger_token ?? undefined,
    bodyDigest: row.body_digest ?? undefined,
    approvalCallbackUrl: row.approval_callback_url ?? undefined,
    rejectionCallbackUrl: row.rejection_callback_url ?? undefined,
    work: row.work ?? undefined,
    acknowledgedMs: row.acknowledged_ms ?? undefined,
    policyProblem: row.policy_problem ?? undefined,
    noticeMs: row.notice_ms ?? undefined,
  }
}

type ReviewRow = Omit<GateReviewsTable, 'id' | 'instance_id'>

export function toReview({
  person,
  action,
  comment,
  time_ms,
  person_groups,
  on_behalf_of,
}: ReviewRow): Review {
  return {
    ...{ person, action, comment, timeMs: time_ms },
    ...(person_groups !== null && { groups: JSON.parse(person_groups) as string[] }),
    ...(on_behalf_of !== null && { onBehalfOf: on_behalf_of }),
  }
}

export function toDelegation(row: Omit<GateDelegationsTable, 'id'> & { readonly id: number }): Delegation {
  return {
    id: row.id,
    from: row.from_person,
    to: row.to_person,
    groups: JSON.parse(row.person_groups) as string[],
    reason: row.reason,
    createdMs: row.created_ms,
    untilMs: row.until_ms,
  }
}

export function fromInstance(instance: NewInstance): NewInstanceRow {
  return {
    gate_id: instance.gateId,
    gate_name: instance.gateName,
    application: instance.application ?? null,
    execution_id: instance.executionId,
    state: instance.state,
    comment: instance.comment,
    created_ms: instance.createdMs,
    activated_ms: instance.activatedMs ?? null,
    expires_ms: instance.expiresMs,
    decided_ms: instance.decidedMs ?? null,
    decided_by: instance.decidedBy ?? null,
    triggered_by: instance.triggeredBy ?? null,
    trigger_token: instance.triggerToken ?? null,
    body_digest: instance.bodyDigest ?? null,
    approval_callback_url: instance.approvalCallbackUrl ?? null,
    rejection_callback_url: instance.rejectionCallbackUrl ?? null,
    work: instance.work ?? null,
    acknowledged_ms: instance.acknowledgedMs ?? null,
    policy_problem: instance.policyProblem ?? null,
    notice_ms: instance.noticeMs ?? null,
  }
}
