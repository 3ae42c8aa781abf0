import type { Evidence } from '../connectors/tool/connectors.js'
import { isWhole, toPolicyInput } from './fetch-evidence.js'
import type { Gate } from '../../store/ports/gate.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

/** What a gate's policy is asked with. */
export interface PolicyQuestion {
  readonly gate: Gate
  readonly instance: GateInstance
  /** The body that triggered the instance. */
  readonly trigger: Readonly<Record<string, unknown>>
  readonly evidence: readonly Evidence[]
}

/**
 * Why a policy cannot decide, or undefined. A policy looks for reasons to deny, so it would approve what is missing:
 * everything that was asked for must be there, and so must every connector that the gate names.
 */
export function whyUndecidable({ gate, evidence }: PolicyQuestion): string | undefined {
  const present = new Set(evidence.map(({ connectorType }) => connectorType))
  const missing = gate.connectors.filter((type) => !present.has(type))
  if (missing.length > 0) return `the trigger gave nothing for ${missing.join(', ')}`
  if (isWhole(evidence)) return undefined
  const failed = evidence.filter(({ state }) => state !== 'fetched')
  return failed.map(({ connectorType, error }) => `${connectorType}: ${error ?? 'not fetched'}`).join('; ')
}

/** The input of the policy: evidence by connector, beside it the trigger and the gate. */
export function policyInput({ gate, instance, trigger, evidence }: PolicyQuestion): object {
  const { id, name, application, pipeline, approvals } = gate
  return {
    ...toPolicyInput(evidence),
    trigger: { ...trigger, user: instance.triggeredBy },
    gate: { id, name, application, pipeline, approvals },
    application,
    executionId: instance.executionId,
  }
}
