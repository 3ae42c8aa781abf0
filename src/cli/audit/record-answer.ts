import { z } from 'zod'

import { recordLabels } from '../../audit/record-view.js'

/** A record as the service answers with it. */
export const RecordAnswer = z.looseObject({
  seq: z.number(),
  at: z.string(),
  source: z.string(),
  kind: z.string(),
  ...recordLabels,
})
export type RecordAnswer = z.output<typeof RecordAnswer>
