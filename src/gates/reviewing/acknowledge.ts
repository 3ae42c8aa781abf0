import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { WriteOperation, Writer } from '../../store/ports/transaction.js'
import { requireInstance } from '../instances/find-or-raise.js'

export interface Acknowledgement {
  readonly instanceId: number
  readonly nowMs: number
}

/** Records that the caller knows an instance, once. Raises `not_found`. */
export const acknowledgeInstance: WriteOperation<Acknowledgement, void> = {
  name: 'gates.acknowledge',
  apply: async ({ gates }, { instanceId, nowMs }) => {
    const instance = await requireInstance(gates, instanceId)
    const acknowledged = acknowledgedAt(instance, nowMs)
    if (acknowledged !== instance) await gates.updateInstance(acknowledged)
  },
}

/**
 * Returns the instance with the time at which its caller proved that it got the response to its
 * trigger, since it knows the number. The number of a reserved instance was known before and proves
 * nothing.
 */
export function acknowledgedAt(instance: GateInstance, nowMs: number): GateInstance {
  const isProof = instance.acknowledgedMs === undefined && instance.state !== 'not_activated'
  return isProof ? { ...instance, acknowledgedMs: nowMs } : instance
}

interface AcknowledgeStatusDeps {
  readonly writer: Writer
  readonly failed: (error: AppError, instanceId: number) => void
}

/** Called before a status is returned. Never rejects. */
export type AcknowledgeStatus = (instance: GateInstance, nowMs: number) => Promise<void>

/**
 * Records the first request for an instance's status. The outcome of a closed instance is returned
 * once that is durable, so that after a crash a restarted stage does not get the old outcome. Other
 * states do not wait.
 */
export function makeAcknowledgeStatus({ writer, failed }: AcknowledgeStatusDeps): AcknowledgeStatus {
  const underWay = new Map<number, Promise<void>>()
  const write = (instanceId: number, nowMs: number): Promise<void> =>
    writer
      .run(acknowledgeInstance, { instanceId, nowMs })
      .catch((raw: unknown) => failed(toAppError(raw), instanceId))
      .finally(() => underWay.delete(instanceId))
  return async (instance, nowMs) => {
    if (acknowledgedAt(instance, nowMs) === instance) return
    const writing = underWay.get(instance.id) ?? write(instance.id, nowMs)
    underWay.set(instance.id, writing)
    if (!isOpen(instance.state)) await writing
  }
}
