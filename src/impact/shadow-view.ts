import { z } from 'zod'

import { ImpactResult } from './impact-result.js'

/**
 * The state of the shadow in responses: a candidate revision that also evaluates a share of the
 * decisions.
 */
export const ShadowView = z.object({
  state: z.enum(['compiling', 'running', 'failed']),
  since: z.string().meta({ format: 'date-time' }).describe('Start of the comparison.'),
  sharePercent: z.int(),
  dropped: z.int().describe('Decisions that were not evaluated because the shadow was busy.'),
  leftOut: z.int().describe('Decisions outside the share.'),
  error: z.string().optional().describe('Why the shadow does not run.'),
  result: ImpactResult.optional(),
})
export type ShadowView = z.output<typeof ShadowView>
