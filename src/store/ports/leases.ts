/** Exclusive right to a piece of work. */
export interface WorkLease {
  /** Aborted when the lease was lost: another process may do the work now. */
  readonly lost: AbortSignal
  /** Gives the lease back. Never rejects, since a lease that is not renewed expires. */
  readonly release: () => Promise<void>
}

/**
 * Leases of work among processes that share a store. A lease is renewed until it is released, and
 * expires soon after its process ends.
 */
export interface Leases {
  /** Takes a lease; undefined if it is taken. Raises AppError `unavailable`. */
  readonly take: (kind: string, key: string) => Promise<WorkLease | undefined>
}

/**
 * Runs `act` under a lease and returns true, or returns false if another process has the lease.
 * Aborts the signal of `act` if the lease is lost.
 */
export async function whileLeased(
  leases: Leases,
  kind: string,
  key: string,
  act: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const lease = await leases.take(kind, key)
  if (lease === undefined) return false
  try {
    await act(lease.lost)
  } finally {
    await lease.release()
  }
  return true
}

/** Leases of a store with a single process: always granted. */
export const soleLeases: Leases = {
  take: () => Promise.resolve({ lost: new AbortController().signal, release: () => Promise.resolve() }),
}
