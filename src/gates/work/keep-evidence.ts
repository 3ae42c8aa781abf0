import type { WriteOperation } from '../../store/ports/transaction.js'
import { serviceActor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { requireGate } from '../instances/find-or-raise.js'
import { textDigest } from '../instances/close-instance.js'

export interface FetchedEvidence {
  readonly instanceId: number
  /** Evidence of all connectors, as JSON text. */
  readonly evidence: string
  /** State of each connector for the record, such as `JIRA fetched`. */
  readonly outcomes: readonly string[]
  readonly nowMs: number
}

/** Stores evidence once, and makes the gate's policy the next step, if there is one. */
export const keepEvidence: WriteOperation<FetchedEvidence, void> = {
  name: 'gates.keep-evidence',
  apply: async ({ gates, audit }, { instanceId, evidence, outcomes, nowMs }) => {
    const instance = await gates.findInstance(instanceId)
    // The instance was decided during the fetch: evidence that the person did not see must not be
    // stored with the decision.
    if (instance?.work !== 'evidence') return
    const { policy } = await requireGate(gates, instance.gateId)
    await gates.saveDocuments(instanceId, { evidence })
    await gates.updateInstance({ ...instance, work: policy === undefined ? undefined : 'policy' })
    const facts = { connectors: outcomes, evidenceSha256: textDigest(evidence) }
    await audit.append(instanceEntry('gate.evidence', instance, serviceActor(nowMs), facts))
  },
}
