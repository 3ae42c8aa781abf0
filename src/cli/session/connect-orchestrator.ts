import { setTimeout as wait } from 'node:timers/promises'

import type { OriginatedValue } from '../../config/values/layered-values.js'
import { traceConfig } from '../../config/load-config.js'
import { readSecrets } from '../../config/read-secrets.js'
import { makeOutboundClient } from '../../lib/outbound/outbound-client.js'
import type { OrchestratorConnection } from '../../orchestrator/connection.js'
import { readOrchestratorSettings } from '../../orchestrator/settings.js'
import type { Terminal } from './terminal.js'

/** What says how the orchestrator is reached. */
export interface OrchestratorOptions {
  readonly config: string | undefined
  /** What flags set, over the file and the environment. */
  readonly flags: readonly OriginatedValue[]
}

/** Calls `use` with a connection to the orchestrator that flags or the configuration name. */
export async function withOrchestrator<T>(
  { config: file, flags }: OrchestratorOptions,
  terminal: Terminal,
  use: (connection: OrchestratorConnection) => Promise<T>,
): Promise<T> {
  const { orchestrator } = traceConfig({ file, env: terminal.env, flags }).config
  const settings = readOrchestratorSettings(orchestrator, readSecrets({ orchestrator }, terminal.env))
  // The operator names the address himself: it may be anywhere but at a metadata service.
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: true })
  try {
    return await use({
      settings,
      client,
      now: Date.now,
      wait: (ms, signal) => wait(ms, undefined, { signal }),
      random: Math.random,
    })
  } finally {
    await client.close()
  }
}

/** The flags that say where the storage service is. */
export interface StorageOptions {
  readonly config?: string
  readonly storageUrl?: string
}

/** Calls `use` with a connection to the storage service that flags or the configuration name. */
export function withStorage<T>(
  { config, storageUrl }: StorageOptions,
  terminal: Terminal,
  use: (connection: OrchestratorConnection) => Promise<T>,
): Promise<T> {
  const flags =
    storageUrl === undefined
      ? []
      : [{ path: ['orchestrator', 'storageUrl'], value: storageUrl, origin: '--storage-url' }]
  return withOrchestrator({ config, flags }, terminal, use)
}
