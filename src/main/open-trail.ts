import { setTimeout } from 'node:timers/promises'
import { applyRetention } from '../audit/apply-retention.js'
import { CheckpointKeeper } from '../audit/checkpoint-keeper.js'
import { makeCheckpointSigner, makeCheckpointVerifier } from '../audit/checkpoint-signature.js'
import { DecisionTrail } from '../audit/decision-trail.js'
import type { CheckpointDeps } from '../audit/checkpoint-keeper.js'
import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { EventIntake } from '../events/event-intake.js'
import { LimitedStreams } from '../http/pipeline/limited-streams.js'
import type { AuditRoutesDeps } from '../http/routes/trail/audit.js'
import type { Logger } from '../lib/logger.js'
import { maintain } from '../store/ports/maintenance.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { Leadership } from './timers/leadership.js'
import { repeat, setUnrefTimer } from './timers/repeat.js'

const MAX_EXPORTS = 8
const INDEX_INTERVAL_MS = 250
const CHECKPOINT_INTERVAL_MS = 5000
/** How long a gap is gathered before one record tells of it. */
const GAP_INTERVAL_MS = 10_000
const RETENTION_INTERVAL_MS = 600_000
const FIRST_RETENTION_MS = 30_000
const MS_PER_MINUTE = 60_000
const MS_PER_DAY = 86_400_000
/** How long a search by free text waits for what was kept just before it. */
const CATCH_UP_MS = 500

export interface TrailParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly leadership: Leadership
}

/** The trail at work. */
export interface OpenTrail {
  readonly intake: EventIntake
  readonly decisions: DecisionTrail
  readonly routes: AuditRoutesDeps
  readonly close: () => Promise<void>
}

/** Starts what takes events in and what keeps the trail in order. Raises `invalid` for a key that cannot sign. */
export function openTrail(config: Config, parts: TrailParts): OpenTrail {
  const { store, logger, leadership } = parts
  const checkpoints = checkpointDeps(config, parts)
  const failed = (what: string) => (error: Error) => logger.error({ error: error.message }, what)
  const intake = new EventIntake({
    writer: store.writer,
    now: store.now,
    maxWaitingBytes: config.audit.maxWaitingBytes,
  })
  const decisions = new DecisionTrail({
    writer: store.writer,
    now: store.now,
    steadyNow: () => performance.now(),
    wait: (ms) => setTimeout(ms),
    failed: failed('decisions not recorded in the audit trail'),
  })
  const keeper = new CheckpointKeeper({
    ...checkpoints,
    audit: store.lookups.audit,
    everyRecords: config.audit.checkpointRecords,
    everyMs: config.audit.checkpointMinutes * MS_PER_MINUTE,
  })
  const indexing = repeat(
    INDEX_INTERVAL_MS,
    (signal) => maintain(store.maintenance, 'search', signal),
    failed('audit records not indexed'),
  )
  const checkpointing = repeat(
    CHECKPOINT_INTERVAL_MS,
    leadership.led(() => keeper.writeIfDue()),
    failed('audit checkpoint not written'),
  )
  const noteGap = failed('missing decisions not noted in the audit trail')
  const noting = repeat(GAP_INTERVAL_MS, () => decisions.recordGap(), noteGap)
  const retaining = repeat(
    RETENTION_INTERVAL_MS,
    leadership.led((signal) => retain(config, parts, checkpoints, signal)),
    failed('old audit records not removed'),
  )
  // A service that is often started again must remove them too.
  const notYetRetaining = setUnrefTimer(() => void retaining.runNow(), FIRST_RETENTION_MS)
  return {
    intake,
    decisions,
    routes: {
      reader: store.reader,
      lookups: store.lookups.audit,
      publicKeys: publicKeysOf(config, checkpoints),
      exports: new LimitedStreams(MAX_EXPORTS, 'exports'),
      caughtUp: () => Promise.race([indexing.runNow(), setTimeout(CATCH_UP_MS, undefined, { ref: false })]),
    },
    close: async () => {
      notYetRetaining()
      await Promise.all([indexing.stop(), checkpointing.stop(), retaining.stop(), noting.stop()])
      await decisions.settle().catch(noteGap)
      await keeper.writeAtEnd('shutdown').catch(failed('audit checkpoint not written'))
    },
  }
}

/** Raises `invalid` for what is no key. None while nothing is signed: an earlier key alone proves nothing of what is written now. */
function publicKeysOf({ audit }: Config, { signer }: CheckpointDeps): readonly string[] {
  for (const [index, key] of audit.earlierPublicKeys.entries()) {
    makeCheckpointVerifier(key, `audit.earlierPublicKeys[${index}]`)
  }
  return signer === undefined ? [] : [signer.publicKey, ...audit.earlierPublicKeys]
}

function checkpointDeps({ audit }: Config, { store, logger, readSecret }: TrailParts): CheckpointDeps {
  const key = audit.signingKey === undefined ? undefined : readSecret(audit.signingKey).reveal()
  return {
    writer: store.writer,
    now: store.now,
    signer: key === undefined ? undefined : makeCheckpointSigner(key),
    // The log is a second place: who cuts the end off the database cannot cut it off there.
    written: (checkpoint) => logger.info(checkpoint, 'audit checkpoint'),
  }
}

async function retain(
  { audit }: Config,
  { store, logger }: TrailParts,
  checkpoints: CheckpointDeps,
  signal: AbortSignal,
): Promise<void> {
  const { maxAgeDays, maxBytes } = audit
  if (maxAgeDays === undefined && maxBytes === undefined) return
  const maxAgeMs = maxAgeDays === undefined ? undefined : maxAgeDays * MS_PER_DAY
  const { lookups, maintenance } = store
  const removed = await applyRetention({
    ...checkpoints,
    audit: lookups.audit,
    maintenance,
    removalTime: store.removalTime,
    maxAgeMs,
    maxBytes,
    pause: (ms) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
    signal,
  })
  if (removed > 0) logger.info({ removed }, 'old audit records removed')
}
