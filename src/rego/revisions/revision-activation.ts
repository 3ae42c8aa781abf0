import { z } from 'zod'

/** The decisions that another revision makes differently, as a comparison found them. */
export const RevisionImpact = z.object({
  comparison: z
    .enum(['stage', 'shadow', 'impact'])
    .describe('What compared: the stage of the revision, a shadow, or `POST /policies/impact`.'),
  against: z.string().describe('The revision that it was compared with.'),
  compared: z.int().describe('Number of inputs that both revisions answered.'),
  flips: z.int().describe('Number of inputs with another answer; changed warnings are not counted.'),
  errors: z.int().describe('Number of inputs that only the new revision cannot evaluate.'),
})
export type RevisionImpact = z.output<typeof RevisionImpact>

/** How a revision began to serve. */
export const RevisionActivation = z.object({
  /** Epoch milliseconds. */
  atMs: z.number(),
  source: z.string(),
  /** The key of the verified signature. */
  signer: z.string().optional(),
  /** Who requested it, or who caused it without a request, such as `source main`. */
  by: z.string(),
  impact: RevisionImpact.optional(),
})
export type RevisionActivation = z.output<typeof RevisionActivation>

/** A stored revision. Times are in epoch milliseconds. */
export interface KeptRevision {
  readonly revision: string
  /** When it served first and last. */
  readonly sinceMs: number
  readonly untilMs: number
  readonly isServing: boolean
  /** False for a revision that answered only a share of requests. */
  readonly hasServed: boolean
  /** How it began to serve since it served continuously, the first one first. */
  readonly activations: readonly RevisionActivation[]
}
