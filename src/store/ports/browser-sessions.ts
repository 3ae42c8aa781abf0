/** A browser that has signed in. */
export interface BrowserSession {
  readonly tokenName: string
  /** Tells this token from another that has its name later: a session ends with its token. */
  readonly tokenDigest: string
  /** The Host header that it signed in by: its cookie is not taken under another. */
  readonly host: string
  /** What each form of its pages carries, so that no page of others can send one. */
  readonly formToken: string
}

/** How long sessions last, and how many there are. */
export const SESSION_BOUNDS = {
  longestMs: 43_200_000,
  /** Without a request. */
  idleMs: 7_200_000,
  /** Of a token; the one that was used longest ago ends for another. */
  ofToken: 10,
  inAll: 1000,
} as const

/** The browsers that have signed in, by a key that tells nothing of their cookies. Raises AppError `unavailable`. */
export interface BrowserSessions {
  readonly add: (key: string, session: BrowserSession) => Promise<void>
  /** The session of a key, which is in use from now on; undefined where it has ended, or began under another host. */
  readonly use: (key: string, host: string) => Promise<BrowserSession | undefined>
  readonly remove: (key: string) => Promise<void>
}
