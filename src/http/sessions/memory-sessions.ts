import { SESSION_BOUNDS } from '../../store/ports/browser-sessions.js'
import type {
  AccountIdentity,
  BrowserSession,
  BrowserSessions,
  ListedSession,
} from '../../store/ports/browser-sessions.js'

interface KeptSession extends BrowserSession {
  readonly endsMs: number
  idleSinceMs: number
}

const { longestMs, idleMs, ofToken, inAll } = SESSION_BOUNDS

/** Sessions in memory, for a single service. A restart ends them. */
export class MemorySessions implements BrowserSessions {
  readonly #passed: () => number
  /** Least recently used first. */
  readonly #kept = new Map<string, KeptSession>()

  /** `passed` returns a monotonic time in milliseconds. */
  constructor(passed: () => number) {
    this.#passed = passed
  }

  add(key: string, session: BrowserSession): Promise<void> {
    this.#forgetEnded()
    const own = [...this.#kept].filter(([, { tokenName }]) => tokenName === session.tokenName)
    for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - ofToken))) this.#kept.delete(oldest)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < inAll) break
      this.#kept.delete(oldest)
    }
    const passedMs = this.#passed()
    this.#kept.set(key, { ...session, endsMs: passedMs + longestMs, idleSinceMs: passedMs })
    return Promise.resolve()
  }

  use(key: string, host: string): Promise<BrowserSession | undefined> {
    this.#forgetEnded()
    const session = this.#kept.get(key)
    if (session?.host !== host) return Promise.resolve(undefined)
    session.idleSinceMs = this.#passed()
    this.#kept.delete(key)
    this.#kept.set(key, session)
    return Promise.resolve(session)
  }

  replaceAccount(key: string, account: string): Promise<void> {
    const session = this.#kept.get(key)
    if (session !== undefined) this.#kept.set(key, { ...session, account })
    return Promise.resolve()
  }

  remove(key: string): Promise<void> {
    this.#kept.delete(key)
    return Promise.resolve()
  }

  removeAccounts({
    sub,
    sid,
  }: AccountIdentity): Promise<readonly Pick<ListedSession, 'key' | 'tokenName'>[]> {
    const ended = [...this.#kept].filter(([, { account }]) => {
      if (account === undefined) return false
      const known = JSON.parse(account) as Partial<AccountIdentity>
      return sid === undefined || known.sid === undefined
        ? sub !== undefined && known.sub === sub
        : known.sid === sid
    })
    for (const [key] of ended) this.#kept.delete(key)
    return Promise.resolve(ended.map(([key, { tokenName }]) => ({ key, tokenName })))
  }

  list(): Promise<readonly ListedSession[]> {
    this.#forgetEnded()
    const passedMs = this.#passed()
    const listed = [...this.#kept].map(([key, { tokenName, account, endsMs, idleSinceMs }]) => ({
      ...{ key, tokenName, isAccount: account !== undefined },
      ...{ ageMs: passedMs - (endsMs - longestMs), idleMs: passedMs - idleSinceMs },
    }))
    return Promise.resolve(listed.sort((one, other) => one.ageMs - other.ageMs))
  }

  #forgetEnded(): void {
    const passedMs = this.#passed()
    for (const [key, { endsMs, idleSinceMs }] of this.#kept) {
      if (passedMs >= endsMs || passedMs >= idleSinceMs + idleMs) this.#kept.delete(key)
    }
  }
}
