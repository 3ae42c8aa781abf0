import type { AuditEntry } from '../store/ports/audit-store.js'
import type { WriteOperation } from '../store/ports/transaction.js'

/** A change of policies or base documents by a client. */
export interface RecordedPolicyChange {
  readonly kind: PolicyChangeKind
  /** What changed: the id of a policy, or the path of a document. */
  readonly target: string
  /** The new text or document: its size in bytes and its SHA-256; absent for a deletion. */
  readonly content?: { readonly bytes: number; readonly sha256: string }
  /** The revisions of the policies before and after the change. */
  readonly revisions: { readonly before: string; readonly after: string }
  readonly actor: {
    readonly user: string | undefined
    readonly origin: string | undefined
    readonly nowMs: number
  }
}

/** Kinds of the records. */
export type PolicyChangeKind = 'policy.put' | 'policy.deleted' | 'data.put' | 'data.patched' | 'data.deleted'

/** Records a change of policies or base documents. */
export const recordPolicyChange: WriteOperation<RecordedPolicyChange, null> = {
  name: 'audit.record-policy-change',
  apply: async ({ audit }, change) => {
    await audit.append(toEntry(change))
    return null
  },
}

function toEntry({ kind, target, content, revisions, actor }: RecordedPolicyChange): AuditEntry {
  return {
    timeMs: actor.nowMs,
    source: 'admin',
    kind,
    user: actor.user,
    origin: actor.origin,
    body: new TextEncoder().encode(JSON.stringify({ target, ...content, ...revisions })),
  }
}
