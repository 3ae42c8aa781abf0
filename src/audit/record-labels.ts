import { z } from 'zod'

/** The labels that a record of the trail may have and is found by: the same in queries and in answers. */
export const recordLabels = {
  application: z.string().optional(),
  pipeline: z.string().optional(),
  executionId: z.string().optional(),
  stage: z.string().optional(),
  user: z.string().optional(),
  status: z.string().optional(),
}
