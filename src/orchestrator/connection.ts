import type { OutboundClient, OutboundRequest, OutboundResponse } from '../lib/outbound/outbound-client.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import { sendWithRetries } from '../lib/outbound/send-with-retries.js'
import type { OrchestratorSettings } from './settings.js'

/** Dependencies of calls to the orchestrator. */
export interface OrchestratorConnection {
  readonly settings: OrchestratorSettings
  readonly client: OutboundClient
  /** Folder for lists while they are read; a temporary one if absent. */
  readonly temporaryFolder?: string | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
}

/** Highest size of a response other than a list. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

/** A request to the storage service. */
export interface StorageCall {
  readonly method: OutboundRequest['method']
  /** Path below the service's URL, with a leading slash. */
  readonly path: string
  readonly body: unknown
  /** Whether repeating the request is harmless. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends JSON to the storage service and returns a response of any status. Raises `OutboundError`
 * without a response.
 */
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
