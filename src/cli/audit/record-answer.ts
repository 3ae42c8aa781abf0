import { z } from 'zod'

/** A record as the service answers with it. */
export const RecordAnswer = z.looseObject({
  seq: z.number(),
  at: z.string(),
  source: z.string(),
  kind: z.string(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  executionId: z.string().optional(),
  stage: z.string().optional(),
  user: z.string().optional(),
  status: z.string().optional(),
})
export type RecordAnswer = z.output<typeof RecordAnswer>
