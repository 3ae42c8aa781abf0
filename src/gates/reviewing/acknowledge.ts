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

/** Keeps that the caller knows an instance, the first time. Raises `not_found`. */
export const acknowledgeInstance: WriteOperation<Acknowledgement, void> = {
  name: 'gates.acknowledge',
  apply: async ({ gates }, { instanceId, nowMs }) => {
    const instance = await requireInstance(gates, instanceId)
    const acknowledged = acknowledgedAt(instance, nowMs)
    if (acknowledged !== instance) await gates.updateInstance(acknowledged)
  },
}

/**
 * The instance with the time at which its caller showed that it has the answer to its trigger, since it knows the number. A
 * reserved one proves nothing: its number was known before.
 */
export function acknowledgedAt(instance: GateInstance, nowMs: number): GateInstance {
  const isProof = instance.acknowledgedMs === undefined && instance.state !== 'not_activated'
  return isProof ? { ...instance, acknowledgedMs: nowMs } : instance
}

interface AcknowledgeStatusDeps {
  readonly writer: Writer
  readonly failed: (error: AppError, instanceId: number) => void
}

/** Called for each instance whose status is about to be answered; never rejects. */
export type AcknowledgeStatus = (instance: GateInstance, nowMs: number) => Promise<void>

/**
 * Keeps that an instance has been asked after, once. The outcome of one that ended is answered only when that is durable, so that
 * no crash lets a stage that is started again get the old outcome; a status in between waits for nothing.
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
