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

/** Result of processing waiting events. */
export interface EventsApplied {
  readonly events: number
  readonly changed: number
  /** A sentence for each unreadable part. */
  readonly unread: readonly string[]
}

/** Applies the oldest waiting events to the registry. */
export const applyEvents: WriteOperation<{ readonly limit: number; readonly nowMs: number }, EventsApplied> =
  {
    name: 'registry.apply-events',
    apply: async (transaction, { limit, nowMs }) => {
      const seqs = await transaction.eventQueue.waiting(limit)
      const unread: string[] = []
      let changed = 0
      for (const seq of seqs) {
        const found = await changesIn(transaction, seq)
        unread.push(...found.unread)
        for (const change of found.changes) {
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

/**
 * Removes the oldest waiting event from the queue without applying it, with an audit record.
 * Returns the event's record number.
 */
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
 * Applies changes of a reconciliation. Returns the number of changed entries. They are the JSON
 * text of a list of `RegistryChange`, which crosses the deciding thread in a tenth of the time of
 * objects.
 */
export const applyChanges: WriteOperation<{ readonly changes: string; readonly nowMs: number }, number> = {
  name: 'registry.apply-changes',
  isBackground: true,
  apply: async ({ registry }, { changes, nowMs }) => {
    let changed = 0
    for (const change of JSON.parse(changes) as readonly RegistryChange[]) {
      changed += await applyChange(registry, change, { source: 'reconciliation', recordedMs: nowMs })
    }
    return changed
  },
}

/** Writes an audit record of the registry. */
export const recordInTrail: WriteOperation<AuditEntry, null> = {
  name: 'registry.record',
  apply: async ({ audit }, entry) => {
    await audit.append(entry)
    return null
  },
}

/** Entries of a kind in the order of their ids, for iterating over all. */
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

/** A page of versions. */
export interface HistoryPage {
  /** JSON text: an array, newest first. */
  readonly versions: string
  /** Value of `before` for the next page; absent after the last one. */
  readonly nextBefore: number | undefined
}

const history = partOnDemand(() => import('./definition-history.js'))

/**
 * Versions of an entry with their differences, newest first. Compared and printed in this
 * operation, since that may take long.
 */
export const readHistory: ReadOperation<
  { readonly id: number; readonly limit: number; readonly before: number | undefined },
  HistoryPage
> = {
  name: 'registry.history',
  apply: async ({ registry }, { id, limit, before }) => {
    // One more version, to compare the last one shown.
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

/**
 * Returns the changes of an event; none if retention removed it or a later release cannot read it.
 */
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
