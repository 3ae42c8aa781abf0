import { AppError } from '../../errors/app-error.js'
import { redactSecrets } from '../../lib/redaction/redact.js'
import type { Definition } from '../../orchestrator/definition.js'
import type { DownloadedList } from '../../orchestrator/list-definitions.js'
import { checkList, readList } from '../../orchestrator/read-list.js'
import type { ListKind } from '../../orchestrator/read-list.js'
import type { Reader } from '../../store/ports/readers.js'
import type { RegistryEntry } from '../../store/ports/registry-store.js'
import { epochMs, scalarText } from '../carried-values.js'
import { definitionDigest } from './definition-digest.js'
import { applicationKey, pipelineKey } from './registry-change.js'
import type { RegistryChange } from './registry-change.js'
import { readEntries } from './registry-operations.js'

/** A downloaded list. Plain values, to cross a thread. */
export interface ListToCompare extends DownloadedList {
  /** See `Reconciliation.deletions`. */
  readonly maxMissingPercent: number
}

/**
 * Applies changes, as the JSON text of a list of `RegistryChange`. Resolves when they are durable.
 */
export type TakeChanges = (changes: string) => Promise<void>

/**
 * Compares the registry with a downloaded list. Passes changes to `take`, a few at a time, and
 * returns the number of definitions. Raises `unavailable` for an incomplete list, which changes
 * nothing, and for one that lacks too many entries, which deletes nothing.
 */
export type CompareList = (list: ListToCompare, take: TakeChanges, signal?: AbortSignal) => Promise<number>

const ENTRIES_PER_READ = 500
/** Low, since other writes wait: this many new definitions take the writing thread about 4 ms. */
const CHANGES_PER_STEP = 20

/** Runs `CompareList` on the calling thread, which it blocks. */
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

/** An entry of the registry without its definition. */
export interface KnownEntry {
  readonly application: string
  /** Absent for applications. */
  readonly pipeline?: string | undefined
  readonly pipelineId?: string | undefined
  /** Digest by `definitionDigest`; undefined for a tombstone. */
  readonly digest: string | undefined
  /** The orchestrator's clock, in epoch milliseconds. */
  readonly changedAt: number
  /** Time of recording by our clock, in epoch milliseconds. */
  readonly recordedAt: number
}

/** Number of deletions that is always accepted. */
const MAX_UNCHECKED_DELETIONS = 10

type ListedKind = 'applications' | 'pipelines'

interface Named {
  readonly application: string
  readonly pipeline?: string | undefined
  readonly pipelineId?: string | undefined
}

/**
 * Compares the registry with a complete list of the storage service, one definition at a time, so
 * that neither is in memory as a whole. Entries that changed or were recorded since `listedAt` (our
 * clock, just before the request) are skipped, since the list may be older. The next reconciliation
 * corrects them.
 */
export class Reconciliation {
  private readonly kind: ListedKind
  private readonly listedAt: number
  private readonly unseen = new Set<KnownEntry>()
  private liveCount = 0
  private readonly byId = new Map<string, KnownEntry>()
  private readonly byName = new Map<string, KnownEntry>()

  constructor(kind: ListedKind, known: Iterable<KnownEntry>, listedAt: number) {
    this.kind = kind
    this.listedAt = listedAt
    for (const entry of known) {
      this.unseen.add(entry)
      if (entry.digest !== undefined) this.liveCount += 1
      if (entry.pipelineId !== undefined) this.byId.set(entry.pipelineId, entry)
      else this.byName.set(nameKey(entry), entry)
    }
  }

  /**
   * Returns the change that a listed definition makes; undefined for none and for a definition
   * without a name. Redacts secrets first, as in recorded events.
   */
  compare(listed: Definition): RegistryChange | undefined {
    const definition = withoutSecrets(listed)
    const named = readNames(this.kind, definition)
    if (named === undefined) return undefined
    const entry = this.find(named)
    if (entry !== undefined) this.unseen.delete(entry)
    if (entry !== undefined && (this.isNewer(entry) || isSame(entry, named, definition))) return undefined
    return upsert(named, definition, entry, this.listedAt)
  }

  /**
   * Returns deletions of entries that are not in the list. Call it after all definitions. Raises
   * `unavailable` if more than a few and more than `maxMissingPercent` are missing: a storage
   * service that lost its data or is still loading returns such lists.
   */
  deletions(maxMissingPercent: number): RegistryChange[] {
    const deletions = this.missing()
    const isAccepted =
      deletions.length <= MAX_UNCHECKED_DELETIONS ||
      deletions.length * 100 <= this.liveCount * maxMissingPercent
    if (isAccepted) return deletions
    throw new AppError(
      'unavailable',
      `read all ${this.kind}: the list lacks ${deletions.length} of the ${this.liveCount} known entries, so nothing was marked as deleted; if they are gone, set orchestrator.maxMissingPercent to 100`,
      { code: 'orchestrator_list_incomplete' },
    )
  }

  private missing(): RegistryChange[] {
    return [...this.unseen]
      .filter((entry) => entry.digest !== undefined && !this.isNewer(entry))
      .map((entry) => deletion(entry, this.listedAt))
  }

  /** A pipeline without an id matches the listed one of its name. */
  private find(named: Named): KnownEntry | undefined {
    const { pipelineId } = named
    return (
      (pipelineId === undefined ? undefined : this.byId.get(pipelineId)) ?? this.byName.get(nameKey(named))
    )
  }

  private isNewer({ changedAt, recordedAt }: KnownEntry): boolean {
    return changedAt > this.listedAt || recordedAt >= this.listedAt
  }
}

function nameKey({ application, pipeline }: Named): string {
  return pipeline === undefined ? applicationKey(application) : pipelineKey(application, pipeline)
}

function readNames(kind: ListedKind, definition: Definition): Named | undefined {
  const name = scalarText(definition['name'])
  if (name === undefined) return undefined
  if (kind === 'applications') return { application: name }
  const application = scalarText(definition['application'])
  return application === undefined
    ? undefined
    : { application, pipeline: name.trim(), pipelineId: scalarText(definition['id']) }
}

function isSame(entry: KnownEntry, named: Named, definition: Definition): boolean {
  return entry.pipelineId === named.pipelineId && entry.digest === definitionDigest(definition)
}

/** The time must be later than the entry's, or the change would be ignored. */
function upsert(
  { application, pipeline, pipelineId }: Named,
  definition: Definition,
  entry: KnownEntry | undefined,
  listedAt: number,
): RegistryChange {
  const modifiedAt = epochMs(definition['lastModified']) ?? epochMs(definition['updateTs']) ?? listedAt
  const changedAt = Math.max(modifiedAt, (entry?.changedAt ?? 0) + 1)
  const changedBy = scalarText(definition['lastModifiedBy'])
  if (pipeline === undefined) {
    return { type: 'application.upserted', application, definition, changedAt, changedBy }
  }
  const created = entry?.digest === undefined
  return {
    type: 'pipeline.upserted',
    application,
    pipeline,
    pipelineId,
    created,
    definition,
    changedAt,
    changedBy,
  }
}

function deletion(entry: KnownEntry, changedAt: number): RegistryChange {
  const { application, pipeline, pipelineId } = entry
  if (pipeline === undefined) {
    return { type: 'application.deleted', application, changedAt, changedBy: undefined }
  }
  return { type: 'pipeline.deleted', application, pipeline, pipelineId, changedAt, changedBy: undefined }
}

/**
 * Redacts a definition; returns the same object if it has no secrets. Raises `invalid` for one that
 * is nested too deeply.
 */
function withoutSecrets(definition: Definition): Definition {
  const json = Buffer.from(JSON.stringify(definition))
  const { text } = redactSecrets(json)
  return text === json ? definition : (JSON.parse(text.toString()) as Definition)
}
