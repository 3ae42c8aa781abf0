import { setImmediate } from 'node:timers/promises'
import type { OrchestratorConnection } from '../orchestrator/connection.js'
import { withListing } from '../orchestrator/list-definitions.js'
import type { Listing } from '../orchestrator/list-definitions.js'
import type { RegistryEntry } from '../store/registry-store.js'
import type { Reader } from '../store/readers.js'
import type { Writer } from '../store/transaction.js'
import { Reconciliation } from './reconcile.js'
import type { KnownEntry } from './reconcile.js'
import type { RegistryChange } from './registry-change.js'
import { applyChanges, readEntries, recordInTrail } from './registry-operations.js'

export interface ReconcileDeps {
  readonly connection: OrchestratorConnection
  readonly reader: Reader
  readonly writer: Writer
  /** In milliseconds since the epoch. */
  readonly now: () => number
}

/** What a reconciliation found. */
export interface ReconcileOutcome {
  readonly applications: ListOutcome
  readonly pipelines: ListOutcome
}

interface ListOutcome {
  readonly listed: number
  readonly changed: number
}

type Listed = 'applications' | 'pipelines'

const ENTRIES_PER_READ = 2000
const CHANGES_PER_STEP = 100
/** So many definitions are compared before others may go on. */
const DEFINITIONS_PER_TURN = 20

/**
 * Brings the registry to what the storage service lists: applications, then pipelines. A list that does not come whole changes
 * nothing of its kind, and one that lacks too much deletes nothing. Raises `unavailable` then.
 */
export async function reconcileRegistry(
  deps: ReconcileDeps,
  signal?: AbortSignal,
): Promise<ReconcileOutcome> {
  const applications = await reconcileKind(deps, 'applications', signal)
  const pipelines = await reconcileKind(deps, 'pipelines', signal)
  const outcome = { applications, pipelines }
  if (applications.changed + pipelines.changed > 0) {
    await deps.writer.run(recordInTrail, {
      timeMs: deps.now(),
      source: 'registry',
      kind: 'registry.reconciled',
      body: Buffer.from(JSON.stringify(outcome)),
    })
  }
  return outcome
}

function reconcileKind(deps: ReconcileDeps, what: Listed, signal?: AbortSignal): Promise<ListOutcome> {
  return withListing(deps.connection, what, (listing) => bringIn(deps, what, listing, signal), signal)
}

async function bringIn(
  { connection, reader, writer, now }: ReconcileDeps,
  what: Listed,
  listing: Listing,
  signal: AbortSignal | undefined,
): Promise<ListOutcome> {
  const { maxMissingPercent } = connection.settings
  const known = await knownEntries(reader, what)
  const reconciliation = new Reconciliation(what, known, listing.listedAt)
  const isStopped = (): boolean => signal?.aborted === true
  let waiting: RegistryChange[] = []
  let changed = 0
  let compared = 0
  const apply = async (changes: RegistryChange[]): Promise<void> => {
    if (changes.length > 0) changed += await writer.run(applyChanges, { changes, nowMs: now() })
  }
  for await (const definition of listing.definitions()) {
    const change = reconciliation.compare(definition)
    if (change !== undefined) waiting.push(change)
    if (waiting.length >= CHANGES_PER_STEP) await apply(waiting.splice(0))
    compared += 1
    if (compared % DEFINITIONS_PER_TURN === 0) await setImmediate()
    if (isStopped()) break
  }
  await apply(waiting)
  // What was not looked at is not gone.
  waiting = isStopped() ? [] : reconciliation.deletions(maxMissingPercent)
  while (waiting.length > 0) await apply(waiting.splice(0, CHANGES_PER_STEP))
  return { listed: listing.count, changed }
}

async function knownEntries(reader: Reader, what: Listed): Promise<KnownEntry[]> {
  const kind = what === 'applications' ? 'application' : 'pipeline'
  const known: KnownEntry[] = []
  let afterId = 0
  for (;;) {
    const entries = await reader.run(readEntries, { kind, afterId, limit: ENTRIES_PER_READ })
    known.push(...entries.map(toKnown))
    const last = entries.at(-1)
    if (last === undefined) return known
    afterId = last.id
  }
}

function toKnown({
  kind,
  application,
  name,
  pipelineId,
  digest,
  changedMs,
  recordedMs,
}: RegistryEntry): KnownEntry {
  return {
    application,
    ...(kind === 'pipeline' && { pipeline: name }),
    pipelineId,
    digest,
    changedAt: changedMs,
    recordedAt: recordedMs,
  }
}
