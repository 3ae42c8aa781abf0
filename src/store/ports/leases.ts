/** A piece of work that is this process's alone as long as the lease is held. */
export interface WorkLease {
  /** Aborted when the lease could not be kept: somebody else may do the work now. */
  readonly lost: AbortSignal
  /** Lets others have the work. Never rejects: a lease that is not renewed ends by itself. */
  readonly release: () => Promise<void>
}

/** Who does what, among the processes that share a store. A lease is kept alive until it is released, and ends soon after its process. */
export interface Leases {
  /** Takes a piece of work; undefined while somebody has it. Raises AppError `unavailable`. */
  readonly take: (kind: string, key: string) => Promise<WorkLease | undefined>
}

/** Does a piece of work unless another process is at it; its signal is aborted when it is not this process's any more. Returns whether it was done. */
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

/** For a store that one process has to itself: everything is its own. */
export const soleLeases: Leases = {
  take: () => Promise.resolve({ lost: new AbortController().signal, release: () => Promise.resolve() }),
}
