import type { WriteOperation } from '../store/ports/transaction.js'
import type { RevisionImpact } from '../rego/index.js'
import type { Activation } from './source-set.js'

/** An activation with its time and the caller who requested it. */
export interface RecordedActivation {
  readonly activation: Activation
  readonly nowMs: number
  readonly origin: string
  readonly impact: RevisionImpact | undefined
}

/** Adds an activation to the trail. */
export const recordActivation: WriteOperation<RecordedActivation, null> = {
  name: 'distribution.record-activation',
  apply: async ({ audit }, { activation, nowMs, origin, impact }) => {
    await audit.append({
      timeMs: nowMs,
      source: 'policy',
      kind: activation.servedBeforeMs === undefined ? 'policy.activated' : 'policy.replayed',
      user: activation.user,
      origin,
      body: Buffer.from(JSON.stringify({ ...bodyOf(activation), impact })),
    })
    return null
  },
}

/** A pin or a stage of a revision, or its end. */
export interface RecordedPin {
  readonly kind:
    'policy.pinned' | 'policy.unpinned' | 'policy.staged' | 'policy.promoted' | 'policy.taken_back'
  readonly revision: string
  /** The revision that served before, or serves during the stage. */
  readonly previous: string
  readonly reason?: string | undefined
  readonly sharePercent?: number | undefined
  readonly impact?: RevisionImpact | undefined
  readonly actor: {
    readonly user: string | undefined
    readonly origin: string | undefined
    readonly nowMs: number
  }
}

/** Adds a pin or a stage, or its end, to the trail. */
export const recordPin: WriteOperation<RecordedPin, null> = {
  name: 'distribution.record-pin',
  apply: async ({ audit }, { kind, actor: { user, origin, nowMs }, ...content }) => {
    const body = Buffer.from(JSON.stringify(content))
    await audit.append({ timeMs: nowMs, source: 'policy', kind, user, origin, body })
    return null
  },
}

function bodyOf({ source, revision, signer, digest, previous, servedBeforeMs }: Activation): object {
  return {
    ...{ source, revision, signer, digest, previous },
    ...(servedBeforeMs !== undefined && { servedBefore: new Date(servedBeforeMs).toISOString() }),
  }
}

export const distributionWrites = [recordActivation, recordPin] as const
