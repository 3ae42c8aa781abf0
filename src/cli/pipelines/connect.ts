import type { OrchestratorConnection } from '../../orchestrator/connection.js'
import { withOrchestrator } from '../orchestrator/connect.js'
import type { Terminal } from '../session/terminal.js'

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
