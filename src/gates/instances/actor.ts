/** Person or token that acts on a gate, with origin and time. */
export interface Actor {
  readonly user: string | undefined
  /** The user as claimed by the caller. Equal to `user` if nothing else is known. */
  readonly claimedUser?: string | undefined
  /** Address and token name of the caller, as far as known. */
  readonly origin: string | undefined
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** Tidegate as actor, for expiry and gate policies. */
export function serviceActor(nowMs: number): Actor {
  return { user: undefined, origin: 'tidegate', nowMs }
}
