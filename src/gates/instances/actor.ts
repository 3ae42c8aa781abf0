/** Who does something to a gate, from where, and when. */
export interface Actor {
  readonly user: string | undefined
  /** For whom the caller says to act: where it is all that is known of the user, it is in both. */
  readonly claimedUser?: string | undefined
  /** The address and the token's name, as far as they are known. */
  readonly origin: string | undefined
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** Tidegate itself: the clock and the policies of gates. */
export function serviceActor(nowMs: number): Actor {
  return { user: undefined, origin: 'tidegate', nowMs }
}
