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
