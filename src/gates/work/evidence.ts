import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { Gate } from '../../store/ports/gate.js'
import type { Connector, ConnectorRequest, Evidence, FetchContext } from '../connectors/tool/connectors.js'

export interface FetchEvidenceOptions extends Omit<FetchContext, 'deadlineMs'> {
  /** For all connectors together, retries included. */
  readonly budgetMs: number
}

/**
 * Asks all connectors that a trigger names, at the same time, and gives their evidence in the order of the requests.
 * Never rejects, and is over when the budget is.
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
 * The evidence as policies read it: `input.JIRA.output[i].status`. Evidence that is not whole is no basis for a
 * decision: ask `isWhole` first.
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

/** Whether everything that was asked for is there: policies that only look for reasons to deny approve what is missing. */
export function isWhole(evidence: readonly Evidence[]): boolean {
  return evidence.every(({ state }) => state === 'fetched')
}

function skipped({ connectorType }: ConnectorRequest, fetchedAt: number): Evidence {
  const error = `no account for ${connectorType} is configured: add one to connectors.accounts`
  return { connectorType, account: null, state: 'skipped', fetchedAt, output: [], error }
}

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
