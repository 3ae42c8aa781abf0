import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { ProblemCollector } from '../../lib/validation/problem-collector.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Writer } from '../../store/ports/transaction.js'
import { unknownKeys } from '../../canary/index.js'
import { saveDefinition } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'
import { readCanaryGroups } from './definitions/canary-groups.js'
import { readDefinition } from './definitions/definition.js'
import type { AnalysisDefinition } from './definitions/definition.js'
import { MAX_TEXT_LENGTH } from './definitions/registration.js'

/** The part of a definition with its canary config, read even if other parts are invalid. */
const WithCanaryConfig = z.looseObject({
  metrics: z.looseObject({ canaryConfig: z.record(z.string(), z.unknown()) }),
})

export interface DefinitionRequest {
  readonly application: string
  readonly document: unknown
  readonly origin: 'configuration' | 'api'
}

/** A definition that a run will not stumble over. Raises `invalid` naming everything wrong. */
export function readUsableDefinition(document: unknown): AnalysisDefinition {
  const problems = new ProblemCollector()
  const definition = problems.attempt(() => readDefinition(document))
  const canaryConfig = WithCanaryConfig.safeParse(document).data?.metrics.canaryConfig
  if (canaryConfig !== undefined) problems.attempt(() => readCanaryGroups(canaryConfig))
  problems.attempt(() => refuseShownSecrets(document))
  problems.raise()
  return definition ?? readDefinition(document)
}

/** Refuses a definition with redaction marks, as it is shown: its source would reject them. */
function refuseShownSecrets(document: unknown): void {
  if (!JSON.stringify({ document }).includes(REDACTION_MARK)) return
  throw new AppError(
    'invalid',
    `the definition has ${REDACTION_MARK} in place of a secret: write the secret itself, or better, configure the credentials of the source`,
  )
}

/** A definition with all defaults, and sentences about unread members of its canary config. */
export interface Defined {
  readonly definition: AnalysisDefinition
  readonly warnings: readonly string[]
}

/** Defines the analysis of an application. Raises `invalid` with all problems. */
export async function defineAnalysis(
  { writer }: { readonly writer: Writer; readonly reader: Reader },
  { application, document, origin }: DefinitionRequest,
  actor: Actor,
): Promise<Defined> {
  refuseLongName(application)
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
  return { definition, warnings: unknownKeys(definition.metrics?.canaryConfig) }
}

/** No registration could name it. */
function refuseLongName(application: string): void {
  if (application.length <= MAX_TEXT_LENGTH) return
  throw new AppError('invalid', `the name of the application has more than ${MAX_TEXT_LENGTH} characters`)
}
