import { TrailIndexer } from '../audit/trail-indexer.js'
import type { Config } from '../config/config.js'
import { EventIntake } from '../events/event-intake.js'
import type { Logger } from '../lib/logger.js'
import type { ServiceStore } from '../store/sqlite/service/open-service-store.js'

const INDEX_INTERVAL_MS = 250

export interface TrailParts {
  readonly store: ServiceStore
  readonly logger: Logger
}

/** The trail at work. */
export interface OpenTrail {
  readonly intake: EventIntake
  readonly close: () => Promise<void>
}

/** Starts what takes events in and keeps the trail in order. */
export function openTrail(config: Config, { store, logger }: TrailParts): OpenTrail {
  const intake = new EventIntake({
    writer: store.writer,
    now: Date.now,
    kept: () => undefined,
    maxWaitingBytes: config.audit.maxWaitingBytes,
  })
  const indexer = new TrailIndexer({
    writer: store.writer,
    progress: () => store.lookups.audit.progress(),
    failed: (error) => logger.error({ error: error.message }, 'audit records not indexed'),
  })
  const indexing = setInterval(() => void indexer.catchUp(), INDEX_INTERVAL_MS)
  return {
    intake,
    close: async () => {
      clearInterval(indexing)
      await indexer.stop()
    },
  }
}
