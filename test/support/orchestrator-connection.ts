import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import type { OrchestratorConnection } from '../../src/orchestrator/connection.js'
import type { OrchestratorSettings } from '../../src/orchestrator/settings.js'

/** A connection to servers on loopback, whose waits take no time. */
export function connectTo(
  storageUrl: string,
  settings: Partial<OrchestratorSettings> = {},
): OrchestratorConnection & { readonly close: () => Promise<void> } {
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: false })
  return {
    settings: {
      storageUrl,
      storageCredentials: undefined,
      gateUrl: storageUrl,
      gateCredentials: undefined,
      webhookToken: undefined,
      githubSecret: undefined,
      bitbucketSecret: undefined,
      storeMode: 'auto',
      refresh: { url: undefined, method: 'POST' },
      maxMissingPercent: 50,
      timeoutMs: 10_000,
      listTimeoutMs: 10_000,
      maxListBytes: 1024 * 1024,
      maxDefinitionBytes: 64 * 1024,
      attempts: 3,
      ...settings,
    },
    client,
    now: () => Date.now(),
    wait: () => Promise.resolve(),
    random: () => 0.5,
    close: client.close,
  }
}
