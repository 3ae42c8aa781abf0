import { setTimeout as wait } from 'node:timers/promises'

import type { OriginatedValue } from '../../config/values/layered-values.js'
import { traceConfig } from '../../config/load-config.js'
import { readSecrets } from '../../config/read-secrets.js'
import { makeOutboundClient } from '../../lib/outbound/outbound-client.js'
import { OutboundError } from '../../lib/outbound/outbound-error.js'
import type { OrchestratorConnection } from '../../orchestrator/connection.js'
import { readOrchestratorSettings } from '../../orchestrator/settings.js'
import type { Terminal } from './terminal.js'

/** Options for connecting to the orchestrator. */
export interface OrchestratorOptions {
  readonly config: string | undefined
  /** Values of flags, which override the file and the environment. */
  readonly flags: readonly OriginatedValue[]
}

/** Calls `use` with a connection to the orchestrator. */
export async function withOrchestrator<T>(
  { config: file, flags }: OrchestratorOptions,
  terminal: Terminal,
  use: (connection: OrchestratorConnection) => Promise<T>,
): Promise<T> {
  const { orchestrator } = traceConfig({ file, env: terminal.env, flags }).config
  const settings = readOrchestratorSettings(orchestrator, readSecrets({ orchestrator }, terminal.env))
  // The operator chose the address, so only metadata services are blocked.
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: true })
  try {
    return await use({
      settings,
      client,
      now: Date.now,
      wait: (ms, signal) => wait(ms, undefined, { signal }),
      random: Math.random,
    })
  } catch (raw) {
    const isUnnamed = orchestrator.storageUrl === undefined && raw instanceof OutboundError
    if (!isUnnamed || !raw.message.startsWith(`${settings.storageUrl} `)) throw raw
    const advice = 'name the storage service with --storage-url or orchestrator.storageUrl'
    throw new OutboundError(raw.reason, `${raw.message}; ${advice}`, raw)
  } finally {
    await client.close()
  }
}

export interface StorageOptions {
  readonly config?: string
  readonly storageUrl?: string
}

/** Calls `use` with a connection to the storage service. */
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
