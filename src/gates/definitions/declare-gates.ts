import { AppError } from '../../errors/app-error.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { serviceActor } from '../instances/actor.js'
import type { Actor } from '../instances/actor.js'
import { gateEntry } from '../instances/audit-entries.js'
import { requireGate } from '../instances/find-or-raise.js'
import { FIRST_GENERATED_GATE_ID, MAX_ID } from '../../store/ports/gate.js'
import type { Gate, GateDefinition } from '../../store/ports/gate.js'

/** A gate of the configuration. */
export interface ConfiguredGate extends GateDefinition {
  readonly id: number
}

/** A change that brings the stored gates in line with the configuration. */
export interface GateChange {
  readonly kind: 'gate.declared' | 'gate.changed' | 'gate.removed'
  readonly gate: Gate
}

/**
 * Compares the stored gates with the configuration. New and changed gates are saved, and gates
 * missing from it accept no new instances. Gates made over HTTP stay the same.
 */
export function compareGates(
  kept: readonly Gate[],
  configured: readonly ConfiguredGate[],
  nowMs: number,
): GateChange[] {
  const byId = new Map(kept.map((gate) => [gate.id, gate]))
  const declared = configured.flatMap((definition): GateChange[] => {
    const old = byId.get(definition.id)
    const createdMs = old?.createdMs ?? nowMs
    const gate: Gate = {
      ...definition,
      origin: 'configuration',
      isEnabled: true,
      createdMs,
      changedMs: nowMs,
    }
    if (old === undefined) return [{ kind: 'gate.declared', gate }]
    return isSameGate(old, gate) ? [] : [{ kind: 'gate.changed', gate }]
  })
  const ids = new Set(configured.map(({ id }) => id))
  const removed = kept
    .filter(({ id, origin, isEnabled }) => origin === 'configuration' && isEnabled && !ids.has(id))
    .map((gate): GateChange => ({
      kind: 'gate.removed',
      gate: { ...gate, isEnabled: false, changedMs: nowMs },
    }))
  return [...declared, ...removed]
}

function isSameGate(one: Gate, other: Gate): boolean {
  return comparable(one) === comparable(other)
}

/** All members of a gate in a fixed order. */
function comparable(gate: Gate): string {
  const entries = Object.entries({ ...gate, changedMs: 0 }).filter(([, value]) => value !== undefined)
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Saves the changes to the configuration's gates. */
export const saveGateChanges: WriteOperation<readonly GateChange[], void> = {
  name: 'gates.save-changes',
  apply: async (transaction, changes) => {
    for (const { kind, gate } of changes)
      await saveGate(transaction, kind, gate, serviceActor(gate.changedMs))
  },
}

export interface GateDeclaration {
  readonly definition: GateDefinition
  readonly actor: Actor
}

/** Creates a gate with a new id. */
export const createGate: WriteOperation<GateDeclaration, Gate> = {
  name: 'gates.create',
  apply: async (transaction, { definition, actor }) => {
    const id = await nextGateId(transaction)
    const { nowMs } = actor
    const gate: Gate = {
      ...definition,
      id,
      origin: 'api',
      isEnabled: true,
      createdMs: nowMs,
      changedMs: nowMs,
    }
    await saveGate(transaction, 'gate.declared', gate, actor)
    return gate
  },
}

/** Returns an unused id. Raises `unavailable` if none are left. */
export async function nextGateId({ gates }: Transaction): Promise<number> {
  const id = Math.max(await gates.highestGateId(), FIRST_GENERATED_GATE_ID - 1) + 1
  if (id > MAX_ID) throw new AppError('unavailable', 'there are no ids left for gates')
  return id
}

/**
 * Replaces a gate's definition. Raises `not_found`, or `conflict` for a gate of the configuration.
 */
export const changeGate: WriteOperation<GateDeclaration & { readonly gateId: number }, Gate> = {
  name: 'gates.change',
  apply: async (transaction, { gateId, definition, actor }) => {
    const { id, createdMs, origin } = await requireOwnGate(transaction, gateId)
    if (origin === 'stage') throw madeByStage(gateId)
    const gate: Gate = {
      ...definition,
      id,
      origin: 'api',
      isEnabled: true,
      createdMs,
      changedMs: actor.nowMs,
    }
    await saveGate(transaction, 'gate.changed', gate, actor)
    return gate
  },
}

/**
 * Disables a gate, which then accepts no new instances. Raises `not_found`, or `conflict` for a
 * gate of the configuration.
 */
export const removeGate: WriteOperation<{ readonly gateId: number; readonly actor: Actor }, Gate> = {
  name: 'gates.remove',
  apply: async (transaction, { gateId, actor }) => {
    const kept = await requireOwnGate(transaction, gateId)
    if (!kept.isEnabled) return kept
    const gate = { ...kept, isEnabled: false, changedMs: actor.nowMs }
    await saveGate(transaction, 'gate.removed', gate, actor)
    return gate
  },
}

async function requireOwnGate({ gates }: Transaction, gateId: number): Promise<Gate> {
  const gate = await requireGate(gates, gateId)
  if (gate.origin !== 'configuration') return gate
  throw new AppError(
    'conflict',
    `the approval gate ${gateId} is declared in the configuration: change it there`,
  )
}

function madeByStage(gateId: number): AppError {
  return new AppError(
    'conflict',
    `the approval gate ${gateId} was made from the form of its stage: change it there, or declare one for the stage, which takes precedence`,
  )
}

/** Saves a gate and records the change. */
export async function saveGate(
  { gates, audit }: Transaction,
  kind: GateChange['kind'],
  gate: Gate,
  actor: Actor,
): Promise<void> {
  await gates.saveGate(gate)
  await audit.append(gateEntry(kind, gate, actor))
}
