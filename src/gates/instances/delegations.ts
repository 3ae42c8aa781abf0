import { AppError } from '../../errors/app-error.js'
import { isSamePerson } from '../../lib/text/same-person.js'
import type { Delegation } from '../../store/ports/gate-instance.js'
import type { GateReader } from '../../store/ports/gate-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from './actor.js'
import type { Approver } from './transition.js'

/** Delegations that a person may have given at a time. */
const MAX_GIVEN = 20

interface GivenRights {
  readonly to: string
  readonly groups: readonly string[]
  readonly reason: string
  readonly untilMs: number
  readonly actor: Actor & { readonly user: string }
}

/**
 * Gives the rights of an approver to another person until a time. Raises `invalid` for the same
 * person, or `conflict` for too many delegations.
 */
export const giveDelegation: WriteOperation<GivenRights, Delegation> = {
  name: 'gates.give-delegation',
  apply: async (transaction, { to, groups, reason, untilMs, actor }) => {
    const { gates } = transaction
    const { user: from, nowMs } = actor
    if (isSamePerson(from, to))
      throw new AppError('invalid', 'You cannot delegate to yourself. Name another person.')
    const given = (await gates.delegations(nowMs)).filter((each) => isSamePerson(each.from, from))
    if (given.length >= MAX_GIVEN)
      throw new AppError('conflict', `You have given ${MAX_GIVEN} delegations. Revoke one first.`)
    const delegation = await gates.addDelegation({ from, to, groups, reason, createdMs: nowMs, untilMs })
    await record(transaction, 'gate.delegated', delegation, actor)
    return delegation
  },
}

interface Revocation {
  readonly id: number
  readonly mayRevokeAny: boolean
  readonly actor: Actor
}

/**
 * Ends a delegation now. Raises `not_found`, or `forbidden` unless the caller gave or received it.
 */
export const revokeDelegation: WriteOperation<Revocation, Delegation> = {
  name: 'gates.revoke-delegation',
  apply: async (transaction, { id, mayRevokeAny, actor }) => {
    const found = (await transaction.gates.delegations(actor.nowMs)).find((each) => each.id === id)
    if (found === undefined) throw new AppError('not_found', `there is no delegation ${id}`)
    const { user } = actor
    const isOwn = user !== undefined && [found.from, found.to].some((name) => isSamePerson(name, user))
    if (!isOwn && !mayRevokeAny)
      throw new AppError(
        'forbidden',
        `delegation ${id} is between other people: only they and admins revoke it`,
      )
    await transaction.gates.removeDelegation(id)
    await record(transaction, 'gate.delegation_revoked', found, actor)
    return found
  },
}

async function record(
  { audit }: Transaction,
  kind: string,
  { id, from, to, groups, reason, untilMs }: Delegation,
  { user, origin, nowMs }: Actor,
): Promise<void> {
  const facts = { delegation: id, from, to, groups, reason, until: new Date(untilMs).toISOString() }
  const body = new TextEncoder().encode(JSON.stringify(facts))
  await audit.append({ timeMs: nowMs, source: 'gate', kind, user, origin, body })
}

/** Delegations that have not ended, by their ends. */
export const listDelegations: ReadOperation<{ readonly nowMs: number }, readonly Delegation[]> = {
  name: 'gates.list-delegations',
  apply: ({ gates }, { nowMs }) => gates.delegations(nowMs),
}

/**
 * Returns the approvers who gave a person their rights. They have their current groups if all
 * approvers are known, and otherwise those of when they gave them. Delegated rights are not given on.
 */
export async function delegatorsOf(
  gates: Pick<GateReader, 'delegations'>,
  person: string,
  approvers: readonly Approver[] | undefined,
  nowMs: number,
): Promise<readonly Approver[]> {
  const delegations = (await gates.delegations(nowMs)).filter(({ to }) => isSamePerson(to, person))
  return delegations.flatMap(({ from, groups }): readonly Approver[] => {
    if (approvers === undefined) return [{ name: from, groups }]
    return approvers.filter(({ name }) => isSamePerson(name, from))
  })
}
