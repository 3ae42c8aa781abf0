import type { Definition } from '../../orchestrator/definition.js'
import type {
  RegistryEntry,
  RegistryHead,
  RegistryRepository,
  RegistrySource,
} from '../../store/ports/registry-store.js'
import { definitionDigest } from './definition-digest.js'
import { applicationKey, pipelineKey } from './registry-change.js'
import type { PipelinesReordered, RegistryChange } from './registry-change.js'

/** Origin of a change. */
export interface NewsOrigin {
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
export async function applyChange(
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
