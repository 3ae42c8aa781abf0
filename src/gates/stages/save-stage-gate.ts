import { AppError } from '../../errors/app-error.js'
import type { Gate, StageTemplates, StageType } from '../../store/ports/gate.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { nextGateId, saveGate } from '../definitions/declare-gates.js'
import { typeOf } from '../definitions/find-stage-gate.js'
import type { StageName } from '../definitions/find-stage-gate.js'
import { requireGate } from '../instances/find-or-raise.js'
import type { Actor } from '../instances/actor.js'

/** Settings of a gate in its stage's form. */
export interface StageChoice {
  readonly stage: StageName
  readonly type: StageType
  /** Path below `data` of the policy that is evaluated, or that approves. */
  readonly policy?: string | undefined
  readonly templates?: StageTemplates | undefined
}

/** Limit per service, since anyone who may save pipelines can create them. */
const MAX_STAGE_GATES = 20_000
const MINUTES_PER_DAY = 1440

/**
 * Creates or updates the gate of a stage from its form. The form sends approvers and connectors of
 * an approval later. Raises `unavailable` at the limit.
 */
export const saveStageGate: WriteOperation<StageChoice & { readonly actor: Actor }, Gate> = {
  name: 'gates.save-stage-gate',
  apply: async (transaction, { actor, ...choice }) => {
    const made = (await transaction.gates.listGates()).filter(({ origin }) => origin === 'stage')
    const known = made.find((gate) => isFor(gate, choice))
    if (known === undefined && made.length >= MAX_STAGE_GATES) throw tooMany()
    const { stage, type, policy, templates } = choice
    const gate: Gate = {
      ...{ id: known?.id ?? (await nextGateId(transaction)), name: stage.stage, ...stage, type },
      ...{ connectors: [], approvers: { users: [], groups: [] }, approvals: 1, triggererMayApprove: false },
      ...{ timeToLiveMinutes: MINUTES_PER_DAY, policy, templates, origin: 'stage', isEnabled: true },
      createdMs: known?.createdMs ?? actor.nowMs,
      changedMs: actor.nowMs,
    }
    await saveGate(transaction, known === undefined ? 'gate.declared' : 'gate.changed', gate, actor)
    return gate
  },
}

/**
 * Changes the policy of a stage's gate, when its form is sent again with the gate's number. Raises
 * `not_found` or `conflict`.
 */
export const changeStageGate: WriteOperation<
  { readonly gateId: number; readonly policy: string | undefined; readonly actor: Actor },
  Gate
> = {
  name: 'gates.change-stage-gate',
  apply: (transaction, { gateId, policy, actor }) => change(transaction, gateId, actor, { policy }),
}

/**
 * Limits the approvers to some groups. Raises `not_found`, or `conflict` for a gate declared by an
 * operator.
 */
export const setStageApprovers: WriteOperation<
  { readonly gateId: number; readonly groups: readonly string[]; readonly actor: Actor },
  Gate
> = {
  name: 'gates.set-stage-approvers',
  apply: (transaction, { gateId, groups, actor }) =>
    change(transaction, gateId, actor, { approvers: { users: [], groups } }),
}

/** Adds a connector whose evidence the gate's policy requires. Raises `not_found` or `conflict`. */
export const addStageConnector: WriteOperation<
  { readonly gateId: number; readonly connectorType: string; readonly actor: Actor },
  Gate
> = {
  name: 'gates.add-stage-connector',
  apply: async (transaction, { gateId, connectorType, actor }) => {
    const { connectors } = await requireGate(transaction.gates, gateId)
    return await change(transaction, gateId, actor, {
      connectors: [...new Set([...connectors, connectorType])],
    })
  },
}

async function change(
  transaction: Transaction,
  gateId: number,
  actor: Actor,
  changed: Partial<Gate>,
): Promise<Gate> {
  const kept = await requireGate(transaction.gates, gateId)
  if (kept.origin !== 'stage') throw declaredByOperator(kept)
  const changes = Object.entries(changed).filter(
    ([member, value]) => JSON.stringify(value) !== JSON.stringify(kept[member as keyof Gate]),
  )
  if (changes.length === 0) return kept
  const gate = { ...kept, ...changed, changedMs: actor.nowMs }
  await saveGate(transaction, 'gate.changed', gate, actor)
  return gate
}

function isFor(gate: Gate, { stage, type }: StageChoice): boolean {
  return (
    typeOf(gate) === type &&
    gate.application?.toLowerCase() === stage.application.toLowerCase() &&
    gate.pipeline === stage.pipeline &&
    gate.stage === stage.stage
  )
}

function declaredByOperator({ id, name }: Gate): AppError {
  return new AppError(
    'conflict',
    `the gate ${id} (${name}) is declared by an operator and cannot be changed in the form of a stage`,
  )
}

function tooMany(): AppError {
  return new AppError(
    'unavailable',
    `forms of stages have made ${MAX_STAGE_GATES} gates, which is the limit: remove unused ones`,
    { code: 'too_many_gates' },
  )
}
