import type { WriteOperation } from '../../store/ports/transaction.js'
import { serviceActor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { requireGate } from '../instances/find-or-raise.js'
import { textDigest } from '../instances/close-instance.js'

export interface FetchedEvidence {
  readonly instanceId: number
  /** All that the connectors gave, as JSON text. */
  readonly evidence: string
  /** What became of each connector, for the record: `JIRA fetched`. */
  readonly outcomes: readonly string[]
  readonly nowMs: number
}

/** Keeps what the connectors gave with its instance, once, and leaves the gate's policy as the next work, if it has one. */
export const keepEvidence: WriteOperation<FetchedEvidence, void> = {
  name: 'gates.keep-evidence',
  apply: async ({ gates, audit }, { instanceId, evidence, outcomes, nowMs }) => {
    const instance = await gates.findInstance(instanceId)
    // Decided meanwhile: what the person did not see must not be beside the decision.
    if (instance?.work !== 'evidence') return
    const { policy } = await requireGate(gates, instance.gateId)
    await gates.saveDocuments(instanceId, { evidence })
    await gates.updateInstance({ ...instance, work: policy === undefined ? undefined : 'policy' })
    const facts = { connectors: outcomes, evidenceSha256: textDigest(evidence) }
    await audit.append(instanceEntry('gate.evidence', instance, serviceActor(nowMs), facts))
  },
}
