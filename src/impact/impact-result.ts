import { z } from 'zod'

import type { RevisionImpact } from '../rego/index.js'
import { CHANGES } from './compare-answers.js'
import { NOT_REPLAYABLE } from './replay-case.js'

const ORIGINS = ['decision', 'pipeline', 'input'] as const
const OUTCOMES = ['allow', 'deny', 'defined', 'undefined', 'error'] as const

const Reasons = z.array(z.object({ package: z.string(), deny: z.array(z.string()) }))
const Side = z.object({
  outcome: z.enum(OUTCOMES),
  reasons: Reasons.optional().describe('Denying packages with their reasons.'),
  warnings: Reasons.optional().describe('Packages with reasons that do not deny.'),
  value: z.unknown().optional().describe('Value of a document that is not a verdict.'),
  error: z.string().optional(),
})

/** A case that both revisions answer differently. */
export const Flip = z.object({
  origin: z.enum(ORIGINS),
  id: z.string().describe('Id of the decision or pipeline, or name of the input.'),
  name: z.string().optional().describe('Name of the pipeline.'),
  change: z.enum(CHANGES),
  kind: z.string(),
  path: z.string(),
  application: z.string().optional(),
  executionId: z.string().optional(),
  time: z.string().meta({ format: 'date-time' }),
  packages: z.array(z.string()).describe('Packages whose reasons differ.'),
  before: Side,
  after: Side,
})
export type Flip = z.output<typeof Flip>

const Changes = z.partialRecord(z.enum(CHANGES), z.int())
export type ChangeCounts = z.output<typeof Changes>

const Cost = z.object({
  meanMs: z.number().describe('Mean time of an evaluation, in milliseconds.'),
  p50Ms: z.number(),
  p99Ms: z.number(),
  totalMs: z.number(),
})
export type Cost = z.output<typeof Cost>

const Revision = z.object({
  name: z.string(),
  revision: z.string(),
  warnings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .describe('Mistakes in policies that load, such as calls that the service refuses.'),
})
export type RevisionView = z.output<typeof Revision>

/** What a change of policies would decide differently. */
export const ImpactResult = z.object({
  candidate: Revision,
  against: Revision,
  compared: z
    .object({ decisions: z.int(), pipelines: z.int(), inputs: z.int(), total: z.int() })
    .describe('Number of inputs that both revisions answered.'),
  unchanged: z.int(),
  changes: Changes.describe('Number of differing answers by kind.'),
  bothFail: z
    .int()
    .describe(
      'Number of inputs that neither revision can evaluate, among those that were evaluated with all packages.',
    ),
  byPackage: z.array(z.object({ package: z.string(), changes: Changes })),
  byApplication: z.array(z.object({ application: z.string(), changes: Changes })),
  flips: z.array(Flip),
  flipsLeftOut: z.int().describe('Number of flips that are counted and not listed.'),
  notReplayable: z
    .object({
      total: z.int(),
      byReason: z.partialRecord(z.enum(NOT_REPLAYABLE), z.int()),
      listed: z.array(z.object({ origin: z.enum(ORIGINS), id: z.string(), reason: z.enum(NOT_REPLAYABLE) })),
    })
    .describe('Stored inputs that are not evaluated, because parts of them are missing.'),
  cost: z
    .object({ evaluations: z.int(), before: Cost, after: Cost })
    .describe('Of inputs that both revisions evaluated with all packages.'),
  isPartial: z.boolean().describe('True if the run ended at its limit of inputs or time.'),
  notes: z.array(z.string()),
})
export type ImpactResult = z.output<typeof ImpactResult>

/** A candidate is slower if its mean time grows by both this factor and this many milliseconds. */
const SLOWER_FACTOR = 1.25
const SLOWER_MS = 0.05

/** Whether evaluations of the candidate take a quarter longer on average, and by over 0.05 ms. */
export function isSlower({ cost: { before, after } }: ImpactResult): boolean {
  return after.meanMs > before.meanMs * SLOWER_FACTOR && after.meanMs - before.meanMs > SLOWER_MS
}

/** Returns the counts of a result for the record of an activation. */
export function impactOf(comparison: RevisionImpact['comparison'], result: ImpactResult): RevisionImpact {
  const { against, compared } = result
  return { comparison, against: against.revision, compared: compared.total, ...countChanges(result) }
}

/** Number of new errors of the candidate, and of other changes, warnings excluded. */
export function countChanges({ changes }: ImpactResult): { readonly errors: number; readonly flips: number } {
  const errors = changes.new_error ?? 0
  const all = Object.values(changes).reduce((sum, count) => sum + count, 0)
  return { errors, flips: all - errors - (changes.warnings ?? 0) }
}
