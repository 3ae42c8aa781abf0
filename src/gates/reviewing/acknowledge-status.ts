import type { AppError } from '../../errors/app-error.js'
import { toAppError } from '../../errors/app-error.js'
import type { Writer } from '../../store/ports/transaction.js'
import { acknowledgeInstance, acknowledgedAt } from './acknowledge-instance.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

export interface AcknowledgeStatusDeps {
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
