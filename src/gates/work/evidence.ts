import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { Gate } from '../../store/ports/gate.js'
import type { Connector, ConnectorRequest, Evidence, FetchContext } from '../connectors/tool/connectors.js'

export interface FetchEvidenceOptions extends Omit<FetchContext, 'deadlineMs'> {
  /** Time for all connectors together, retries included. */
  readonly budgetMs: number
}

/**
 * Fetches evidence from all requested connectors concurrently, in the order of the requests. Never
 * rejects, and ends within the budget.
 */
export async function fetchEvidence(
  requests: readonly ConnectorRequest[],
  connectors: readonly Connector[],
  { budgetMs, ...options }: FetchEvidenceOptions,
): Promise<readonly Evidence[]> {
  const context = { ...options, deadlineMs: options.now() + budgetMs }
  const fetching = requests.map(async (request) => {
    const connector = connectors.find(({ connectorTypes }) => connectorTypes.includes(request.connectorType))
    return connector === undefined ? skipped(request, options.now()) : connector.fetch(request, context)
  })
  return Promise.all(fetching)
}

/**
 * Returns the evidence as policy input: `input.JIRA.output[i].status`. Check `isWhole` first: no
 * policy may decide by partial evidence.
 */
export function toPolicyInput(
  evidence: readonly Evidence[],
): Readonly<Record<string, { readonly output: readonly object[] }>> {
  const types = [...new Set(evidence.map(({ connectorType }) => connectorType))]
  const entries = types.map((type) => {
    const ofType = evidence.filter(({ connectorType }) => connectorType === type)
    return [type, { output: ofType.flatMap(({ output }) => output) }] as const
  })
  return Object.fromEntries(entries)
}

/**
 * Whether all requested evidence is present. A policy that only looks for reasons to deny would
 * approve missing evidence.
 */
export function isWhole(evidence: readonly Evidence[]): boolean {
  return evidence.every(({ state }) => state === 'fetched')
}

function skipped({ connectorType }: ConnectorRequest, fetchedAt: number): Evidence {
  const error = `no account for ${connectorType} is configured: add one to connectors.accounts`
  return { connectorType, account: null, state: 'skipped', fetchedAt, output: [], error }
}

/** Data for a gate's policy. */
export interface PolicyRequest {
  readonly gate: Gate
  readonly instance: GateInstance
  /** Body of the trigger. */
  readonly trigger: Readonly<Record<string, unknown>>
  readonly evidence: readonly Evidence[]
}

/**
 * Why a policy cannot decide; undefined if it can. All requested evidence and that of the gate's
 * connectors must be present, since a policy would not notice a missing one.
 */
export function whyUndecidable({ gate, evidence }: PolicyRequest): string | undefined {
  const present = new Set(evidence.map(({ connectorType }) => connectorType))
  const missing = gate.connectors.filter((type) => !present.has(type))
  if (missing.length > 0) return `the trigger has no evidence for ${missing.join(', ')}`
  if (isWhole(evidence)) return undefined
  const failed = evidence.filter(({ state }) => state !== 'fetched')
  return failed.map(({ connectorType, error }) => `${connectorType}: ${error ?? 'not fetched'}`).join('; ')
}

/** Makes the policy's input: evidence by connector, the trigger and the gate. */
export function policyInput({ gate, instance, trigger, evidence }: PolicyRequest): object {
  const { id, name, application, pipeline, approvals } = gate
  return {
    ...toPolicyInput(evidence),
    trigger: { ...trigger, user: instance.triggeredBy },
    gate: { id, name, application, pipeline, approvals },
    application,
    executionId: instance.executionId,
  }
}
