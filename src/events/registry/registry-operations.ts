import { toAppError } from '../../errors/app-error.js'
import { asBuffer } from '../../lib/bytes.js'
import { partOnDemand } from '../../lib/on-demand.js'
import type { AuditEntry, AuditRecord } from '../../store/ports/audit-store.js'
import type { RegistryEntry, RegistryKind, RegistryQuery } from '../../store/ports/registry-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { applyChange } from './apply-change.js'
import { readEvent } from '../read-event.js'
import type { RegistryChange } from './registry-change.js'
import { readOtherApplication, readOtherApplications } from './other-applications.js'
import { registryChanges } from './registry-changes.js'

/** What a step over waiting events did. */
export interface EventsApplied {
  readonly events: number
  readonly changed: number
  /** A sentence for each thing that could not be read. */
  readonly unread: readonly string[]
}

/** Acts on the oldest events that wait: brings what they tell of into the registry. */
export const applyEvents: WriteOperation<{ readonly limit: number; readonly nowMs: number }, EventsApplied> =
  {
    name: 'registry.apply-events',
    apply: async (transaction, { limit, nowMs }) => {
      const seqs = await transaction.eventQueue.waiting(limit)
      const unread: string[] = []
      let changed = 0
      for (const seq of seqs) {
        const told = await changesIn(transaction, seq)
        unread.push(...told.unread)
        for (const change of told.changes) {
          changed += await applyChange(transaction.registry, change, {
            source: 'event',
            seq,
            recordedMs: nowMs,
          })
        }
        await transaction.eventQueue.remove(seq)
      }
      return { events: seqs.length, changed, unread }
    },
  }

/** Takes the oldest event that waits out of the queue, without acting on it, and says so in the trail; returns its number. */
export const skipEvent: WriteOperation<
  { readonly reason: string; readonly nowMs: number },
  number | undefined
> = {
  name: 'registry.skip-event',
  apply: async ({ eventQueue, audit }, { reason, nowMs }) => {
    const [seq] = await eventQueue.waiting(1)
    if (seq === undefined) return undefined
    await eventQueue.remove(seq)
    const body = Buffer.from(JSON.stringify({ seq, reason }))
    await audit.append({ timeMs: nowMs, source: 'registry', kind: 'registry.event_passed_over', body })
    return seq
  },
}

/**
 * Brings changes that a reconciliation found into the registry; returns how many entries changed. They come as the JSON text of a list
 * of `RegistryChange`: a text passes through the thread that decides in a tenth of the time that objects take.
 */
export const applyChanges: WriteOperation<{ readonly changes: string; readonly nowMs: number }, number> = {
  name: 'registry.apply-changes',
  yields: true,
  apply: async ({ registry }, { changes, nowMs }) => {
    let changed = 0
    for (const change of JSON.parse(changes) as readonly RegistryChange[]) {
      changed += await applyChange(registry, change, { source: 'reconciliation', recordedMs: nowMs })
    }
    return changed
  },
}

/** Keeps a record of what a part of the registry did. */
export const recordInTrail: WriteOperation<AuditEntry, null> = {
  name: 'registry.record',
  apply: async ({ audit }, entry) => {
    await audit.append(entry)
    return null
  },
}

/** Entries of a kind in the order of their ids, for what must go through all of them. */
export const readEntries: ReadOperation<
  { readonly kind: RegistryKind; readonly afterId: number; readonly limit: number },
  readonly RegistryEntry[]
> = {
  name: 'registry.entries',
  apply: ({ registry }, { kind, afterId, limit }) => registry.all(kind, afterId, limit),
}

/** A page of applications or pipelines. */
export const readRegistryPage: ReadOperation<RegistryQuery, readonly RegistryEntry[]> = {
  name: 'registry.page',
  apply: ({ registry }, query) => registry.page(query),
}

/** A page of the versions of an entry. */
export interface HistoryPage {
  /** JSON text: an array, newest first. */
  readonly versions: string
  /** The version that the next page goes on before, if there is one. */
  readonly nextBefore: number | undefined
}

const history = partOnDemand(() => import('./definition-history.js'))

/** What versions of an entry were made of, newest first. It is compared and printed here: that may take long. */
export const readHistory: ReadOperation<
  { readonly id: number; readonly limit: number; readonly before: number | undefined },
  HistoryPage
> = {
  name: 'registry.history',
  apply: async ({ registry }, { id, limit, before }) => {
    // One more than is shown: the last one shown needs the one before it.
    const versions = await registry.versions(id, limit + 1, before)
    const { definitionHistory } = await history()
    return {
      versions: definitionHistory(versions, limit),
      nextBefore: versions.length > limit ? versions[limit - 1]?.version : undefined,
    }
  },
}

export const registryWrites = [applyEvents, skipEvent, applyChanges, recordInTrail] as const
export const registryReads = [
  readEntries,
  readRegistryPage,
  readOtherApplication,
  readOtherApplications,
  readHistory,
] as const

/** An event that retention removed meanwhile, or that a later release cannot read any more, changes nothing. */
async function changesIn(
  { audit }: Transaction,
  seq: number,
): Promise<{ readonly changes: readonly RegistryChange[]; readonly unread: readonly string[] }> {
  const record = await audit.find(seq)
  if (record === undefined) return { changes: [], unread: [] }
  try {
    return registryChanges(readKept(record))
  } catch (raw) {
    return { changes: [], unread: [`audit record ${seq}: ${toAppError(raw).message}`] }
  }
}

function readKept({ body, eventId, recordedMs }: AuditRecord): ReturnType<typeof readEvent> {
  return readEvent(asBuffer(body), eventId === undefined ? 'audit' : 'echo', recordedMs)
}
