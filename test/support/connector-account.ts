import { afterEach } from 'vitest'

import { makeToolConnector } from '../../src/gates/connectors/make-tool-connector.js'
import type { ToolName } from '../../src/gates/connectors/make-tool-connector.js'
import type {
  ConnectorAccount,
  ConnectorParameters,
  Evidence,
  FetchContext,
} from '../../src/gates/connectors/tool/connectors.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { instantClock } from './instant-clock.js'
import type { LoopbackServer, SeenRequest } from './loopback-server.js'
import { respondJson, startLoopbackServer } from './loopback-server.js'

export const NOW = Date.UTC(2026, 0, 2)

/** An account at a server of a test. */
export function accountAt(url: string, more: Partial<ConnectorAccount> = {}): ConnectorAccount {
  return {
    name: 'ours',
    connectorType: undefined,
    url,
    credentials: { type: 'bearer', token: new Secret('hunter2') },
    client: makeOutboundClient({ allowLoopback: true, allowPrivate: true }),
    timeoutMs: 10_000,
    attempts: 3,
    maxResponseBytes: 1_000_000,
    ...more,
  }
}

/** A context whose clock advances only by waiting, which takes no time. */
export function instantContext(budgetMs = 30_000): FetchContext & { readonly waits: readonly number[] } {
  return { deadlineMs: NOW + budgetMs, ...instantClock(NOW) }
}

/**
 * A server that answers each path (with its query, decoded) with a JSON document, and everything
 * else with 404.
 */
async function serveDocuments(documents: Readonly<Record<string, unknown>>): Promise<LoopbackServer> {
  return startLoopbackServer((request, response) => {
    const document =
      documents[decodedTarget(request)] ?? documents[decodedTarget(request).split('?')[0] ?? '']
    if (document === undefined) respondJson(response, 404, { message: 'Not Found' })
    else respondJson(response, 200, document)
  })
}

/** The path and query of a request, decoded for people. */
function decodedTarget({ url }: SeenRequest): string {
  return decodeURIComponent(url.replaceAll('+', ' '))
}

/** The evidence of a connector, and the requests its server received. */
interface ConnectorResult {
  readonly evidence: Evidence
  readonly asked: readonly string[]
  readonly origin: string
}

/** Fetches evidence with the connector of a tool, from a server below a path. */
async function fetchFromConnector(
  { origin, seen }: LoopbackServer,
  tool: ToolName,
  parameters: ConnectorParameters,
  path = '',
): Promise<ConnectorResult> {
  const connector = makeToolConnector(tool, accountAt(`${origin}${path}`))
  const [connectorType = ''] = connector.connectorTypes
  const evidence = await connector.fetch({ connectorType, parameters }, instantContext())
  return { evidence, asked: seen.map(decodedTarget), origin }
}

/** The evidence of a connector that found everything. */
export function fetchedEvidence(connectorType: string, output: readonly object[]): Evidence {
  return { connectorType, account: 'ours', state: 'fetched', fetchedAt: NOW, output }
}

/** A server that is closed after each test, and the requests it received. */
interface ToolServer {
  /** Fetches evidence from a server that answers with these documents. */
  readonly fetchFrom: (
    documents: Readonly<Record<string, unknown>>,
    tool: ToolName,
    parameters: ConnectorParameters,
    path?: string,
  ) => Promise<ConnectorResult>
  readonly seen: () => readonly SeenRequest[] | undefined
}

export function useToolServer(): ToolServer {
  let server: LoopbackServer | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })
  return {
    fetchFrom: async (documents, ...asking) => {
      server = await serveDocuments(documents)
      return fetchFromConnector(server, ...asking)
    },
    seen: () => server?.seen,
  }
}
