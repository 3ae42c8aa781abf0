import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

import { z } from 'zod'

import { AppError, toAppError } from '../../errors/app-error.js'
import type { BrowserSession, BrowserSessions } from '../../store/ports/browser-sessions.js'
import { accountOf } from './account.js'
import type { Account, ClaimNames } from './account.js'
import type { Grant, Provider } from './provider.js'

/** State of an account in its session. */
const Kept = z.object({
  groups: z.array(z.string()),
  acr: z.string().optional(),
  /** When the provider is asked again, in milliseconds since the epoch. */
  renewAtMs: z.number(),
  /** The refresh token, encrypted with the cookie; absent if the provider gave none. */
  sealed: z.string().optional(),
  /** The ID token, encrypted likewise: the provider wants to see it when the account signs out. */
  sealedId: z.string().optional(),
  /** Subject and session of the account at the provider, which ends sessions by them. */
  sub: z.string().optional(),
  sid: z.string().optional(),
})

type Kept = z.output<typeof Kept>
const Identity = Kept.pick({ sub: true, sid: true })

function readKept(account: string): Kept {
  return Kept.parse(JSON.parse(account))
}

interface Renewal {
  readonly known: Account
  readonly kept: Kept
  readonly refreshToken: string
}

const NOTHING_NEW = { claims: undefined, idToken: undefined }
const MS_PER_SECOND = 1000
/** Lifetime of access tokens whose provider does not state it. */
const DEFAULT_SECONDS = 300
/** An access token is renewed this long before its end, since clocks differ. */
const EARLY_SECONDS = 10
/** Time until the next attempt while the provider does not answer. */
const RETRY_MS = 60_000

export interface AccountSessionsOptions {
  readonly provider: Pick<Provider, 'renew'>
  readonly claims: ClaimNames
  readonly sessions: BrowserSessions
  readonly now: () => number
  /** Called when the provider does not answer and the session continues. */
  readonly notRenewed: (error: AppError) => void
}

/** The stored session of an account. */
export interface FoundSession extends BrowserSession {
  readonly account: string
  readonly key: string
  /** The cookie, which decrypts the refresh token. */
  readonly cookie: string
}

/**
 * Accounts in sessions. When an access token expires, the provider is asked for the account again, so
 * that changed groups count and a blocked account ends. While the provider is away, people who are
 * signed in continue.
 */
export class AccountSessions {
  readonly #options: AccountSessionsOptions
  /** By key: a refresh token may be used only once. */
  readonly #renewals = new Map<string, Promise<Account>>()

  constructor(options: AccountSessionsOptions) {
    this.#options = options
  }

  /** Returns the account of a new session, and the state to store. Raises `forbidden`. */
  open(
    grant: Grant & { readonly claims: object },
    cookie: string,
  ): { readonly account: Account; readonly kept: string } {
    const account = accountOf({ ...grant.claims }, this.#options.claims)
    return { account, kept: this.#keep(account, grant, cookie) }
  }

  /** Returns the ID token of a session, if the provider gave one. */
  idTokenOf({ account, cookie }: FoundSession): string | undefined {
    const { sealedId } = readKept(account)
    return sealedId === undefined ? undefined : unseal(sealedId, cookie)
  }

  /**
   * Returns the account of a session. Raises `unauthenticated` if the provider ended it, which also
   * ends the session.
   */
  async read(session: FoundSession): Promise<Account> {
    const kept = readKept(session.account)
    const known: Account = { name: session.tokenName, groups: kept.groups, acr: kept.acr }
    const refreshToken = kept.sealed === undefined ? undefined : unseal(kept.sealed, session.cookie)
    if (refreshToken === undefined || this.#options.now() < kept.renewAtMs) return known
    const renewing = this.#renewals.get(session.key) ?? this.#renew(session, { known, kept, refreshToken })
    this.#renewals.set(session.key, renewing)
    try {
      return await renewing
    } finally {
      this.#renewals.delete(session.key)
    }
  }

  async #renew({ key, cookie }: FoundSession, { known, kept, refreshToken }: Renewal): Promise<Account> {
    const { provider, claims, sessions } = this.#options
    try {
      const grant = await provider.renew(refreshToken)
      const account = grant.claims === undefined ? known : accountOf(grant.claims, claims)
      if (account.name !== known.name)
        throw new AppError('unauthenticated', 'Your account has another name now. Sign in again.')
      const renewed = { ...account, acr: account.acr ?? known.acr }
      await sessions.replaceAccount(key, this.#keep(renewed, grant, cookie, kept))
      return renewed
    } catch (raw) {
      const error = toAppError(raw)
      if (error.kind !== 'unavailable') {
        await sessions.remove(key)
        throw error
      }
      this.#options.notRenewed(error)
      await sessions.replaceAccount(
        key,
        this.#keep(known, { ...NOTHING_NEW, refreshToken, seconds: RETRY_MS / MS_PER_SECOND }, cookie, kept),
      )
      return known
    }
  }

  /** `earlier` has what a renewal does not return. */
  #keep({ groups, acr }: Account, grant: Grant, cookie: string, earlier?: Kept): string {
    const { refreshToken, idToken, claims, seconds = DEFAULT_SECONDS } = grant
    const { sub = earlier?.sub, sid = earlier?.sid } = Identity.parse(claims ?? {})
    const kept: Kept = {
      ...{ sub, sid, sealedId: idToken === undefined ? earlier?.sealedId : seal(idToken, cookie) },
      groups: [...groups],
      acr,
      renewAtMs: this.#options.now() + (seconds - EARLY_SECONDS) * MS_PER_SECOND,
      sealed: refreshToken === undefined ? undefined : seal(refreshToken, cookie),
    }
    return JSON.stringify(kept)
  }
}

const CIPHER = 'aes-256-gcm'
const [IV_BYTES, TAG_BYTES] = [12, 16]

/** The store holds the hash of a cookie only, so readers of the store cannot decrypt. */
function keyFrom(cookie: string): Buffer {
  return createHash('sha256').update('refresh token of ').update(cookie).digest()
}

function seal(text: string, cookie: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, keyFrom(cookie), iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

function unseal(sealed: string, cookie: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv(CIPHER, keyFrom(cookie), bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  )
}
