import type { WriteOperation } from '../../store/ports/transaction.js'
import { acknowledgedAt } from './acknowledge.js'
import type { Actor } from '../instances/actor.js'
import { closeInstance } from '../instances/close-instance.js'
import { expireIfDue } from '../instances/expire-instances.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { applyCancellation } from '../instances/transition.js'

export interface CancellationRequest {
  readonly instanceId: number
  readonly comment: string
  readonly actor: Actor
}

/**
 * Cancels an open instance whose pipeline was cancelled, and leaves a closed one unchanged. Returns
 * undefined for an unknown instance.
 */
export const cancelForOrchestrator: WriteOperation<CancellationRequest, GateInstance | undefined> = {
  name: 'gates.cancel-for-orchestrator',
  apply: async (transaction, { instanceId, comment, actor }) => {
    const found = await transaction.gates.findInstance(instanceId)
    if (found === undefined) return undefined
    const due = await expireIfDue(transaction, found, actor.nowMs)
    const instance = acknowledgedAt(due, actor.nowMs)
    const closing = applyCancellation(instance, comment)
    if (closing === undefined) {
      if (instance !== due) await transaction.gates.updateInstance(instance)
      return instance
    }
    return await closeInstance(transaction, instance, closing, actor)
  },
}
