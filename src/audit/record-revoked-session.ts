import type { WriteOperation } from '../store/ports/transaction.js'

interface RevokedSession {
  readonly id: string
  /** Whose session it was. */
  readonly name: string
  readonly user: string | undefined
  readonly origin: string | undefined
  readonly nowMs: number
}

/** Records that a session was ended by its person or by an admin. */
export const recordRevokedSession: WriteOperation<RevokedSession, void> = {
  name: 'audit.record-revoked-session',
  apply: async ({ audit }, { id, name, user, origin, nowMs }) => {
    const body = new TextEncoder().encode(JSON.stringify({ session: id, name }))
    await audit.append({ timeMs: nowMs, source: 'admin', kind: 'session.revoked', user, origin, body })
  },
}
