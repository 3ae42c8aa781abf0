import { AppError } from '../errors/app-error.js'
import type { WriteOperation } from '../store/ports/transaction.js'
import { instanceEntry } from './instances/audit-entries.js'
import type { Actor } from './instances/actor.js'
import { requireInstance } from './instances/find-or-raise.js'
import { isOpen } from '../store/ports/gate-instance.js'

export interface WorkResumption {
  readonly instanceId: number
  readonly actor: Actor
}

/**
 * Fetches the evidence of an open instance again. Raises `not_found`, and `conflict` for a closed
 * instance.
 */
export const resumeWork: WriteOperation<WorkResumption, void> = {
  name: 'gates.resume-work',
  apply: async ({ gates, audit }, { instanceId, actor }) => {
    const instance = await requireInstance(gates, instanceId)
    if (!isOpen(instance.state)) {
      throw new AppError(
        'conflict',
        `the approval gate instance ${instanceId} has ended: nothing is left to do`,
      )
    }
    await gates.updateInstance({ ...instance, work: 'evidence', policyProblem: undefined })
    await audit.append(instanceEntry('gate.work_resumed', instance, actor, {}))
  },
}
