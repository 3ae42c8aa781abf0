import type { DownloadedList } from '../../orchestrator/list-definitions.js'
import { checkList, readList } from '../../orchestrator/read-list.js'
import type { ListKind } from '../../orchestrator/read-list.js'
import type { Reader } from '../../store/ports/readers.js'
import type { RegistryEntry } from '../../store/ports/registry-store.js'
import { Reconciliation } from './reconcile.js'
import type { KnownEntry } from './reconcile.js'
import type { RegistryChange } from './registry-change.js'
import { readEntries } from './registry-operations.js'

/** A list to compare the registry with; plain values, which cross a thread. */
export interface ListToCompare extends DownloadedList {
  /** As in `Reconciliation.deletions`. */
  readonly maxMissingPercent: number
}

/** Brings changes, the JSON text of a list of `RegistryChange`, into the registry; resolves when they are durable. */
export type TakeChanges = (changes: string) => Promise<void>

/**
 * Compares the registry with a downloaded list and gives the number of its definitions. What differs goes to `take`, a few changes
 * at a time. Raises `unavailable` for a list that is not whole, which changes nothing, and for one that lacks too much, which deletes
 * nothing.
 */
export type CompareList = (list: ListToCompare, take: TakeChanges, signal?: AbortSignal) => Promise<number>

const ENTRIES_PER_READ = 500
/** This many new definitions keep the writing thread for some 4 ms, and a gate's write no longer. */
const CHANGES_PER_STEP = 20

/** `CompareList` on the calling thread, which it keeps busy. */
export async function compareList(list: ListToCompare, reader: Reader, take: TakeChanges): Promise<number> {
  const count = await checkList(list)
  const reconciliation = new Reconciliation(list.kind, await knownEntries(reader, list.kind), list.listedAt)
  let waiting: RegistryChange[] = []
  for await (const definition of readList(list)) {
    const change = reconciliation.compare(definition)
    if (change === undefined) continue
    waiting.push(change)
    if (waiting.length < CHANGES_PER_STEP) continue
    await take(JSON.stringify(waiting))
    waiting = []
  }
  if (waiting.length > 0) await take(JSON.stringify(waiting))
  const deletions = reconciliation.deletions(list.maxMissingPercent)
  while (deletions.length > 0) await take(JSON.stringify(deletions.splice(0, CHANGES_PER_STEP)))
  return count
}

async function knownEntries(reader: Reader, listKind: ListKind): Promise<KnownEntry[]> {
  const kind = listKind === 'applications' ? 'application' : 'pipeline'
  const known: KnownEntry[] = []
  let afterId = 0
  for (;;) {
    const entries = await reader.run(readEntries, { kind, afterId, limit: ENTRIES_PER_READ })
    for (const entry of entries) known.push(toKnown(entry))
    const last = entries.at(-1)
    if (last === undefined) return known
    afterId = last.id
  }
}

function toKnown(entry: RegistryEntry): KnownEntry {
  return {
    application: entry.application,
    pipeline: entry.kind === 'pipeline' ? entry.name : undefined,
    pipelineId: entry.pipelineId,
    digest: entry.digest,
    changedAt: entry.changedMs,
    recordedAt: entry.recordedMs,
  }
}
