import { createHash, randomBytes } from 'node:crypto'

/** A browser that has signed in. */
export interface Session {
  readonly tokenName: string
  /** The Host header that it signed in by: its cookie is not taken under another. */
  readonly host: string
  /** What each form of its pages carries, so that no page of others can send one. */
  readonly formToken: string
}

interface KeptSession extends Session {
  readonly endsMs: number
  idleSinceMs: number
}

const MS_PER_HOUR = 3_600_000
const LONGEST_MS = 12 * MS_PER_HOUR
const IDLE_MS = 2 * MS_PER_HOUR
const MAX_OF_TOKEN = 10
const MAX_SESSIONS = 1000
const BYTES = 32

/** A text that nobody guesses. */
export function randomToken(): string {
  return randomBytes(BYTES).toString('base64url')
}

/**
 * The sessions of this process: so many of a token and so many in all, of which the longest idle ends first; each for twelve hours at most and
 * two without a request. A restart ends them all.
 */
export class Sessions {
  readonly #now: () => number
  /** By the SHA-256 of what the cookie holds, the least recently used first: a lookup tells nothing of how much of a cookie is right. */
  readonly #kept = new Map<string, KeptSession>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Begins a session; returns what its cookie holds. */
  open(tokenName: string, host: string): string {
    this.#forgetEnded()
    const own = [...this.#kept].filter(([, session]) => session.tokenName === tokenName)
    for (const [key] of own.slice(0, Math.max(0, own.length + 1 - MAX_OF_TOKEN))) this.#kept.delete(key)
    for (const key of this.#kept.keys()) {
      if (this.#kept.size < MAX_SESSIONS) break
      this.#kept.delete(key)
    }
    const id = randomToken()
    const nowMs = this.#now()
    const session = { tokenName, host, formToken: randomToken() }
    this.#kept.set(keyOf(id), { ...session, endsMs: nowMs + LONGEST_MS, idleSinceMs: nowMs })
    return id
  }

  /** The session of a cookie that came with this Host header. */
  find(id: string, host: string): Session | undefined {
    const key = keyOf(id)
    const session = this.#kept.get(key)
    if (session === undefined) return undefined
    if (this.#hasEnded(session)) {
      this.#kept.delete(key)
      return undefined
    }
    if (session.host !== host) return undefined
    session.idleSinceMs = this.#now()
    this.#kept.delete(key)
    this.#kept.set(key, session)
    return session
  }

  close(id: string): void {
    this.#kept.delete(keyOf(id))
  }

  #hasEnded({ endsMs, idleSinceMs }: KeptSession): boolean {
    const nowMs = this.#now()
    return nowMs >= endsMs || nowMs >= idleSinceMs + IDLE_MS
  }

  #forgetEnded(): void {
    for (const [key, session] of this.#kept) if (this.#hasEnded(session)) this.#kept.delete(key)
  }
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}
