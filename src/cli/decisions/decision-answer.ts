import { z } from 'zod'

/** A decision as the service shows it; what a list leaves out is in the rest. */
export const DecisionAnswer = z.looseObject({
  decisionId: z.string(),
  time: z.string(),
  kind: z.string(),
  path: z.string(),
  outcome: z.string(),
  application: z.string().optional(),
  caller: z.string().optional(),
  durationMs: z.number().optional(),
  error: z.string().optional(),
  result: z.unknown().optional(),
  input: z.unknown().optional(),
  inputPrefix: z.unknown().optional(),
})
export type DecisionAnswer = z.output<typeof DecisionAnswer>
