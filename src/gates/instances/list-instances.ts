import { AppError } from '../../errors/app-error.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type {
  AwaitedReview,
  GateReader,
  InstanceFilter,
  InstanceOrder,
  InstancePosition,
} from '../../store/ports/gate-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import { delegatorsOf } from './delegations.js'
import { asOf } from './instance-view.js'
import { isApprover } from './transition.js'
import type { Approver } from './transition.js'

/** Query for a page. */
export interface InstanceListQuery extends Omit<InstanceFilter, 'expiresAfterMs' | 'awaits'> {
  /** Only instances that wait for this person's approval. */
  readonly awaits?: Approver | undefined
  readonly order: InstanceOrder
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
  readonly limit: number
  readonly nowMs: number
}

export interface InstancePage {
  readonly instances: readonly GateInstance[]
  /** Number of matches on all pages. */
  readonly total: number
  /** Absent on the last page. */
  readonly nextCursor: string | undefined
}

/**
 * Lists the matching instances as of a time. Expired ones do not count as open. Raises `invalid`
 * for a cursor of another list, and for closed instances ordered by deadline.
 */
export const listInstances: ReadOperation<InstanceListQuery, InstancePage> = {
  name: 'gates.list-instances',
  apply: async ({ gates }, { order, cursor, limit, nowMs, awaits, ...filter }) => {
    const isOfOpen = filter.state !== undefined && isOpen(filter.state)
    if (order === 'deadline' && !isOfOpen) {
      throw new AppError('invalid', 'order=deadline: only for status=activated or status=not_activated')
    }
    const after = cursor === undefined ? undefined : positionOf(order, cursor)
    const matching = {
      ...filter,
      expiresAfterMs: isOfOpen ? nowMs : undefined,
      awaits: awaits && (await awaitedReview(gates, awaits, nowMs)),
    }
    const found = await gates.listInstances({ ...matching, order, after, limit: limit + 1 })
    const total = await gates.countInstances(matching)
    const instances = found.slice(0, limit).map((instance) => asOf(instance, nowMs))
    const last = found.length > limit ? instances.at(-1) : undefined
    return { instances, total, nextCursor: last && cursorOf(order, last) }
  },
}

async function awaitedReview(gates: GateReader, person: Approver, nowMs: number): Promise<AwaitedReview> {
  const rights = [person, ...(await delegatorsOf(gates, person.name, undefined, nowMs))]
  const own = (await gates.listGates()).filter((gate) =>
    rights.some(({ name, groups }) => isApprover(gate, name, groups)),
  )
  return {
    person: person.name,
    gateIds: own.map(({ id }) => id),
    ownTriggerGateIds: own.filter(({ triggererMayApprove }) => triggererMayApprove).map(({ id }) => id),
  }
}

function cursorOf(order: InstanceOrder, { id, expiresMs }: InstancePosition): string {
  return order === 'newest' ? String(id) : `${expiresMs}_${id}`
}

function positionOf(order: InstanceOrder, cursor: string): InstancePosition {
  const [, expiresMs = '0', id] = /^(?:(\d{1,16}(?:\.\d+)?)_)?(\d{1,15})$/.exec(cursor) ?? []
  if (id === undefined || (order === 'deadline') !== cursor.includes('_')) {
    throw new AppError('invalid', 'cursor: must be the nextCursor of an earlier page in the same order')
  }
  return { id: Number(id), expiresMs: Number(expiresMs) }
}
