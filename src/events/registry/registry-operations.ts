import { toAppError } from '../../errors/app-error.js'
import { asBuffer } from '../../lib/bytes.js'
import { partOnDemand } from '../../lib/on-demand.js'
import type { Definition } from '../../orchestrator/definition.js'
import type { AuditEntry, AuditRecord } from '../../store/ports/audit-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type {
  RegistryEntry,
  RegistryKind,
  RegistryQuery,
  RegistryHead,
  RegistryRepository,
  RegistrySource,
} from '../../store/ports/registry-store.js'
import type { Transaction, WriteOperation } from '../../store/ports/transaction.js'
import { readEvent } from '../read-event.js'
import { definitionDigest } from './definition-digest.js'
import { readOtherApplication, readOtherApplications } from './other-applications.js'
import { applicationKey, pipelineKey } from './registry-change.js'
import type { RegistryChange, PipelinesReordered } from './registry-change.js'
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

/** Origin of a change. */
interface NewsOrigin {
  readonly source: RegistrySource
  /** The audit record of the event that reported it. */
  readonly seq?: number | undefined
  /** Time of recording, in epoch milliseconds. */
  readonly recordedMs: number
}

type Names = Pick<RegistryHead, 'kind' | 'key' | 'applicationKey' | 'application' | 'name' | 'pipelineId'>

interface News {
  readonly names: Names
  /** Undefined for a deletion. */
  readonly definition: Definition | undefined
  readonly change: Pick<RegistryChange, 'changedAt' | 'changedBy'>
}

/**
 * Applies a change to the registry unless a newer one is known. Returns the number of changed
 * entries.
 */
async function applyChange(
  registry: RegistryRepository,
  change: RegistryChange,
  origin: NewsOrigin,
): Promise<number> {
  if (change.type === 'pipelines.reordered') return await reorder(registry, change, origin)
  const names = namesOf(change)
  const known =
    names.kind === 'application'
      ? await registry.findApplication(names.key)
      : await registry.findPipeline(names.pipelineId, names.key)
  const definition = 'definition' in change ? change.definition : undefined
  return await merge(registry, known, { names, definition, change }, origin)
}

async function merge(
  registry: RegistryRepository,
  known: RegistryEntry | undefined,
  { names, definition, change }: News,
  origin: NewsOrigin,
): Promise<number> {
  const digest = definition === undefined ? undefined : definitionDigest(definition)
  if (known !== undefined && !(await isNewer(registry, known, definition, change.changedAt))) return 0
  const head: RegistryHead = {
    ...names,
    // A deletion by name must not remove the id.
    pipelineId: names.pipelineId ?? known?.pipelineId,
    digest,
    changedMs: change.changedAt,
    changedBy: change.changedBy,
    recordedMs: origin.recordedMs,
  }
  if (known !== undefined && isSame(known, head)) {
    await registry.touch(known, head)
    return 0
  }
  const text = definition === undefined ? undefined : JSON.stringify(definition)
  await registry.save(known, head, { source: origin.source, seq: origin.seq, definition: text })
  return 1
}

/** Whether only the times differ. */
function isSame(known: RegistryHead, head: RegistryHead): boolean {
  return (
    known.digest === head.digest &&
    known.key === head.key &&
    known.name === head.name &&
    known.pipelineId === head.pipelineId
  )
}

async function isNewer(
  registry: RegistryRepository,
  known: RegistryEntry,
  definition: Definition | undefined,
  changedAt: number,
): Promise<boolean> {
  // The definition is only needed if the times are equal.
  const isTie = changedAt === known.changedMs && known.digest !== undefined
  const text = isTie ? await registry.definition(known) : undefined
  const knownDefinition = known.digest === undefined ? undefined : parse(text)
  const state = { changedAt: known.changedMs, definition: knownDefinition }
  return mergeDefinition(state, { changedAt, definition }) !== state
}

function parse(text: string | undefined): Definition {
  return text === undefined ? {} : (JSON.parse(text) as Definition)
}

/** The event has only new positions. Sets the position of each known pipeline. */
async function reorder(
  registry: RegistryRepository,
  { application, indices, changedAt, changedBy }: PipelinesReordered,
  origin: NewsOrigin,
): Promise<number> {
  let changed = 0
  for (const [pipelineId, index] of Object.entries(indices)) {
    const known = await registry.findPipeline(pipelineId, pipelineKey(application, ''))
    const text = known === undefined ? undefined : await registry.definition(known)
    if (known === undefined || text === undefined) continue
    const definition = { ...parse(text), index }
    changed += await merge(
      registry,
      known,
      { names: known, definition, change: { changedAt, changedBy } },
      origin,
    )
  }
  return changed
}

function namesOf(change: Exclude<RegistryChange, PipelinesReordered>): Names {
  const { application } = change
  const common = { application, applicationKey: applicationKey(application) }
  if ('pipeline' in change) {
    const { pipeline, pipelineId } = change
    return {
      ...common,
      kind: 'pipeline',
      key: pipelineKey(application, pipeline),
      name: pipeline,
      pipelineId,
    }
  }
  return { ...common, kind: 'application', key: common.applicationKey, name: application }
}

/** Known state of an application or pipeline. */
export interface DefinitionState {
  /** Time of the change by the orchestrator's clock, in epoch milliseconds. */
  readonly changedAt: number
  /**
   * Undefined after a deletion. The tombstone keeps late events of earlier changes from restoring
   * the entry.
   */
  readonly definition: Definition | undefined
}

/**
 * Returns the newer of two states, and `known` itself if the change is old. The order of events
 * does not matter: at the same time a deletion wins, and of two definitions always the same one.
 */
export function mergeDefinition(known: DefinitionState | undefined, news: DefinitionState): DefinitionState {
  if (known === undefined || news.changedAt > known.changedAt) return news
  if (news.changedAt < known.changedAt || known.definition === undefined) return known
  if (news.definition === undefined) return news
  return definitionDigest(news.definition) > definitionDigest(known.definition) ? news : known
}
