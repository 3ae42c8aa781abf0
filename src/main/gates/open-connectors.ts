import type { Config } from '../../config/config.js'
import { readCredentials } from '../../config/values/credentials.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { Connector } from '../../gates/connectors/tool/connectors.js'
import { makeOutboundClient } from '../../lib/outbound/outbound-client.js'

const MS_PER_SECOND = 1000

/** The connectors at work. */
export interface OpenConnectors {
  readonly connectors: readonly Connector[]
  /** For all evidence of one gate. */
  readonly budgetMs: number
  readonly close: () => Promise<void>
}

/** A connector for each configured account. Raises as `readSecret`. */
export async function openConnectors(
  { connectors }: Config,
  readSecret: ReadSecret,
): Promise<OpenConnectors> {
  const budgetMs = connectors.budgetSeconds * MS_PER_SECOND
  if (connectors.accounts.length === 0) return { connectors: [], budgetMs, close: () => Promise.resolve() }
  const { makeToolConnector } = await import('../../gates/connectors/make-tool-connector.js')
  const client = makeOutboundClient(connectors)
  return {
    connectors: connectors.accounts.map((account) =>
      makeToolConnector(account.type, {
        name: account.name,
        connectorType: account.connectorType,
        url: account.url,
        credentials: readCredentials(account.credentials, readSecret),
        client,
        timeoutMs: account.timeoutSeconds * MS_PER_SECOND,
        attempts: account.attempts,
        maxResponseBytes: account.maxResponseBytes,
      }),
    ),
    budgetMs,
    close: client.close,
  }
}
