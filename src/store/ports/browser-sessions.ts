/** A browser that has signed in. */
export interface BrowserSession {
  /** Name of the token, or of the account at the identity provider. */
  readonly tokenName: string
  /**
   * Digest of the token: a session ends with its token, even if another token gets the same name.
   * Empty for an account.
   */
  readonly tokenDigest: string
  /**
   * State of the account at the identity provider, as a JSON object with its subject `sub` and its
   * session `sid` there; undefined for a token.
   */
  readonly account?: string | undefined
  /** The Host header of the sign-in. The cookie is refused under another host. */
  readonly host: string
  /** Value in each form of the pages that proves that the form is ours. */
  readonly formToken: string
}

/** A session in lists. */
export interface ListedSession {
  readonly key: string
  readonly tokenName: string
  /** True for an account at an identity provider. */
  readonly isAccount: boolean
  /** Time since the sign-in and since the last use, in milliseconds. */
  readonly ageMs: number
  readonly idleMs: number
}

/** What identifies an account at the identity provider: its subject, its session there, or both. */
export interface AccountIdentity {
  readonly sub: string | undefined
  readonly sid: string | undefined
}

/** Limits of sessions. */
export const SESSION_BOUNDS = {
  longestMs: 43_200_000,
  /** Time without a request. */
  idleMs: 7_200_000,
  /** Sessions per token. One more ends the session that was used longest ago. */
  ofToken: 10,
  inAll: 1000,
} as const

/**
 * Signed-in browsers by a key that does not reveal their cookies. Raises AppError `unavailable`.
 */
export interface BrowserSessions {
  readonly add: (key: string, session: BrowserSession) => Promise<void>
  /**
   * Returns the session of a key and marks it as used. Undefined if it has ended or began under
   * another host.
   */
  readonly use: (key: string, host: string) => Promise<BrowserSession | undefined>
  /** Stores the state of an account. Does nothing if the session has ended. */
  readonly replaceAccount: (key: string, account: string) => Promise<void>
  readonly remove: (key: string) => Promise<void>
  /**
   * Removes the sessions of accounts that began in this session at the provider, or have this subject
   * where one of both sessions is unknown. Returns them.
   */
  readonly removeAccounts: (
    account: AccountIdentity,
  ) => Promise<readonly Pick<ListedSession, 'key' | 'tokenName'>[]>
  /** Sessions that have not ended, the last sign-in first. */
  readonly list: () => Promise<readonly ListedSession[]>
}
