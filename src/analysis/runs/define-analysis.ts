import type { Reader } from '../../store/readers.js'
import type { Writer } from '../../store/transaction.js'
import { saveDefinition } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'
import { readCanaryGroups } from './canary-groups.js'
import { readDefinition } from './definition.js'
import type { AnalysisDefinition } from './definition.js'

export interface DefinitionRequest {
  readonly application: string
  readonly document: unknown
  readonly origin: 'configuration' | 'api'
}

/** A definition that a run will not stumble over. Raises `invalid` naming everything wrong. */
export function readUsableDefinition(document: unknown): AnalysisDefinition {
  const definition = readDefinition(document)
  if (definition.metrics?.canaryConfig !== undefined) readCanaryGroups(definition.metrics.canaryConfig)
  return definition
}

/** Says how an application is analysed, and gives it with all defaults. Raises `invalid` naming everything wrong. */
export async function defineAnalysis(
  { writer }: { readonly writer: Writer; readonly reader: Reader },
  { application, document, origin }: DefinitionRequest,
  actor: Actor,
): Promise<AnalysisDefinition> {
  const definition = readUsableDefinition(document)
  await writer.run(saveDefinition, {
    definition: {
      application,
      definition: JSON.stringify(definition),
      origin,
      updatedMs: actor.nowMs,
      updatedBy: actor.user,
    },
    actor,
  })
  return definition
}
