import { redactWords } from '../../lib/redaction/redact-text.js'
import type { WriteOperation } from '../../store/ports/transaction.js'
import { serviceActor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { closeInstance } from '../instances/close-instance.js'
import { expireIfDue } from '../instances/expire-instances.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import { applyPolicy } from '../instances/transition.js'
import type { PolicyReasons } from '../instances/transition.js'

/** Result of a gate's policy: its reasons, or why the decision is left to people. */
export interface PolicyAnswer {
  readonly instanceId: number
  readonly policy: string
  readonly reasons: PolicyReasons | undefined
  /** Why there is no verdict. */
  readonly problem: string | undefined
  readonly nowMs: number
}

/**
 * Closes an instance by its policy's verdict, or leaves it to people with a record of the reason.
 */
export const decideByPolicy: WriteOperation<PolicyAnswer, void> = {
  name: 'gates.decide-by-policy',
  apply: async (transaction, { instanceId, policy, reasons, problem, nowMs }) => {
    const { gates, audit } = transaction
    const found = await gates.findInstance(instanceId)
    if (found?.work !== 'policy') return
    const instance = await expireIfDue(transaction, found, nowMs)
    if (!isOpen(instance.state)) return
    const actor = serviceActor(nowMs)
    if (reasons !== undefined) {
      const closing = applyPolicy(instance, { policy, ...reasons })
      if (closing !== undefined) await closeInstance(transaction, instance, closing, actor)
      return
    }
    await gates.updateInstance({
      ...instance,
      work: undefined,
      policyProblem: problem && redactWords(problem),
    })
    await audit.append(instanceEntry('gate.left_to_people', instance, actor, { policy, problem }))
  },
}
