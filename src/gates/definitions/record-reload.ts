import type { WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { saveGateChanges } from './declare-gates.js'
import type { GateChange } from './declare-gates.js'

/** A reload of the configuration. */
export interface RecordedReload {
  /** The keys that changed. */
  readonly changed: readonly string[]
  readonly gates: readonly GateChange[]
  readonly actor: Actor
}

/** Saves the gates of a reloaded configuration, and records who reloaded it and what changed. */
export const recordReload: WriteOperation<RecordedReload, null> = {
  name: 'gates.record-reload',
  apply: async (transaction, { changed, gates, actor }) => {
    await saveGateChanges.apply(transaction, gates)
    await transaction.audit.append({
      timeMs: actor.nowMs,
      source: 'admin',
      kind: 'configuration.reloaded',
      user: actor.user,
      origin: actor.origin,
      body: Buffer.from(JSON.stringify({ changed, gates: gates.length })),
    })
    return null
  },
}
