import type { OutboundClient, OutboundRequest, OutboundResponse } from '../lib/outbound/outbound-client.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import { sendWithRetries } from '../lib/outbound/send-with-retries.js'
import type { OrchestratorSettings } from './settings.js'

/** What the calls to the orchestrator are made with. */
export interface OrchestratorConnection {
  readonly settings: OrchestratorSettings
  readonly client: OutboundClient
  /** Where lists wait while they are read; among the system's temporary files when absent. */
  readonly temporaryFolder?: string | undefined
  /** The time in milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
}

/** An answer that is no larger than this is read of anything but lists. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

/** A request to the storage service. */
export interface StorageCall {
  readonly method: OutboundRequest['method']
  /** Below the service's URL, with its slash. */
  readonly path: string
  readonly body: unknown
  /** Whether sending it twice does no harm. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/** Sends JSON to the storage service; the answer may have any status. Raises `OutboundError` where there is none. */
export async function callStorage(
  { settings, client, now, wait, random }: OrchestratorConnection,
  { method, path, body, isRepeatable, signal }: StorageCall,
): Promise<OutboundResponse> {
  const request: OutboundRequest = {
    method,
    url: `${settings.storageUrl}${path}`,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      ...authHeaders(settings.storageCredentials),
    },
    body: JSON.stringify(body),
    timeoutMs: settings.timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    signal,
  }
  const attempts = isRepeatable ? settings.attempts : 1
  return sendWithRetries(client, request, {
    attempts,
    budgetMs: attempts * settings.timeoutMs,
    now,
    wait,
    random,
  })
}
