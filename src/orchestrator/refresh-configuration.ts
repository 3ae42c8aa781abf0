import { sendWithRetries } from '../lib/outbound/send-with-retries.js'
import type { OrchestratorConnection } from './connection.js'
import { isSuccess, refused } from './refusal.js'

/**
 * Result of a refresh. `not_supported` is the response of current cloud components, which refresh
 * by themselves every minute.
 */
export type RefreshOutcome = 'refreshed' | 'not_supported' | 'not_configured'

const NOT_SUPPORTED: readonly number[] = [404, 405]
const MAX_RESPONSE_BYTES = 1024 * 1024

/**
 * Makes the cloud component reload its accounts (`orchestrator.refresh`). Raises `unavailable` on
 * failure.
 */
export async function refreshConfiguration(
  { settings, client, now, wait, random }: OrchestratorConnection,
  signal?: AbortSignal,
): Promise<RefreshOutcome> {
  const { refresh, timeoutMs, attempts } = settings
  if (refresh.url === undefined) return 'not_configured'
  const response = await sendWithRetries(
    client,
    { method: refresh.method, url: refresh.url, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, signal },
    { attempts, budgetMs: attempts * timeoutMs, now, wait, random },
  )
  if (isSuccess(response)) return 'refreshed'
  if (NOT_SUPPORTED.includes(response.status)) return 'not_supported'
  throw refused('refresh the configuration', response)
}
