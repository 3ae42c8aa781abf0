import type { WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'

export interface IgnoredReview {
  readonly instanceId: number
  readonly action: string
  /** Why it did nothing. */
  readonly reason: string
  /** How many others did nothing since the last record of this kind, and have none of their own. */
  readonly unrecorded: number
  readonly actor: Actor
}

/** Writes down that somebody without the right wanted an instance to be reviewed; nothing for an unknown instance. */
export const recordIgnoredReview: WriteOperation<IgnoredReview, void> = {
  name: 'gates.record-ignored-review',
  apply: async ({ gates, audit }, { instanceId, actor, ...facts }) => {
    const instance = await gates.findInstance(instanceId)
    if (instance === undefined) return
    await audit.append(instanceEntry('gate.review_ignored', instance, actor, facts))
  },
}
