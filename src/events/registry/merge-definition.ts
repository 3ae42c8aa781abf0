import { definitionDigest } from './definition-digest.js'
import type { Definition } from '../../orchestrator/definition.js'

/** What is known of an application or a pipeline. */
export interface DefinitionState {
  /** When the orchestrator made it so, in milliseconds. */
  readonly changedAt: number
  /** Undefined for what was deleted: the tombstone keeps late news of earlier changes from bringing it back. */
  readonly definition: Definition | undefined
}

/**
 * What is known after a piece of news: the newer of the two, and the very `known` when the news is old. The order in which
 * news comes makes no difference: at the same time a deletion wins, and of two definitions always the same one.
 */
export function mergeDefinition(known: DefinitionState | undefined, news: DefinitionState): DefinitionState {
  if (known === undefined || news.changedAt > known.changedAt) return news
  if (news.changedAt < known.changedAt || known.definition === undefined) return known
  if (news.definition === undefined) return news
  return definitionDigest(news.definition) > definitionDigest(known.definition) ? news : known
}
