import { hash, randomBytes } from 'node:crypto'

import { z } from 'zod'

import { AppError, toAppError } from '../../errors/app-error.js'
import type { Role } from '../../config/sections/roles.js'
import { cookieOf } from '../exchange/cookie.js'
import type { Exchange } from '../exchange/exchange.js'
import { isSameText } from '../../lib/text/same-text.js'
import { callerFor, makeFindToken, requireRole } from '../pipeline/authenticate.js'
import type { Authenticate, TokenRecord } from '../pipeline/authenticate.js'
import type { BrowserSession, BrowserSessions, ListedSession } from '../../store/ports/browser-sessions.js'
import { principalOf } from '../sign-on/account.js'
import type { AccountRules } from '../sign-on/account.js'
import type { AccountSessions } from '../sign-on/account-sessions.js'
import type { Provider } from '../sign-on/provider.js'

/** Sign-in at an identity provider. */
export interface ProviderAccess {
  readonly provider: Pick<Provider, 'depart' | 'arrive' | 'signOutUrl' | 'verifyLogout'>
  readonly accounts: Pick<AccountSessions, 'open' | 'read' | 'idTokenOf'>
  readonly rules: AccountRules
  /** Text for the button, after "Sign in with". */
  readonly label: string
  /** Authentication context that approvals require; undefined if any will do. */
  readonly approvalAcr: string | undefined
}

export interface BrowserAccessOptions {
  readonly tokens: readonly TokenRecord[]
  /** True if credentials are required. */
  readonly requiresCredentials: boolean
  /** Whether the request shows who sends it by a client certificate or the headers of a proxy. */
  readonly isKnownOtherwise: (exchange: Exchange) => boolean
  /** Undefined if people sign in with tokens only. */
  readonly provider?: ProviderAccess | undefined
  /** True if browsers use TLS. */
  readonly isSecure: boolean
  readonly sessions: BrowserSessions
  /** CSRF token of viewers without a session. */
  readonly formToken: string
  /** Authenticates viewers that send a token or certificate. */
  readonly authenticate: Authenticate
}

/** A sign-in form. */
export interface SignInForm {
  readonly formToken: string
  /** Set-Cookie header with the same token. */
  readonly cookie: string
}

/** What a browser keeps while it is at the identity provider. */
const Departure = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() })
/** Time for signing in at the provider, in seconds. */
const DEPARTURE_SECONDS = 600

/**
 * Authentication of people in browsers. They sign in with a token or at an identity provider, and a
 * cookie replaces it.
 */
export class BrowserAccess {
  readonly #options: BrowserAccessOptions
  readonly #findToken: (presented: string) => TokenRecord | undefined
  readonly #names: { readonly session: string; readonly form: string; readonly departure: string }

  constructor(options: BrowserAccessOptions) {
    this.#options = options
    this.#findToken = makeFindToken(options.tokens)
    // Browsers accept this prefix only over TLS and for this host, so a sibling domain cannot set
    // the cookie (RFC 6265bis, 4.1.3.2).
    const prefix = options.isSecure ? '__Host-' : ''
    this.#names = {
      session: `${prefix}tidegate_session`,
      form: `${prefix}tidegate_sign_in`,
      departure: `${prefix}tidegate_departure_`,
    }
  }

  /** True if credentials are required. */
  get requiresTokens(): boolean {
    return this.#options.requiresCredentials
  }

  /** True if people can sign in with a token. */
  get takesTokens(): boolean {
    return this.#options.tokens.length > 0
  }

  /** Undefined if people sign in with tokens only. */
  get provider(): ProviderAccess | undefined {
    return this.#options.provider
  }

  /**
   * Requires one of the roles. A session takes precedence over a client certificate. Raises
   * `unauthenticated` and `forbidden`.
   */
  readonly authenticate: Authenticate = async (exchange, roles) => {
    const mayHaveSession = this.requiresTokens && exchange.header('authorization') === undefined
    const session = mayHaveSession ? await this.#sessionOf(exchange) : undefined
    if (!mayHaveSession || (session === undefined && this.#options.isKnownOtherwise(exchange))) {
      await this.#options.authenticate(exchange, roles)
      exchange.caller = { ...exchange.caller, formToken: this.#options.formToken }
      return
    }
    if (session?.account !== undefined) {
      await this.#authenticateAccount(exchange, { ...session, account: session.account }, roles)
      return
    }
    const token = this.#options.tokens.find((each) => each.name === session?.tokenName)
    if (session === undefined || token === undefined || session.tokenDigest !== digestOf(token)) {
      throw new AppError('unauthenticated', 'Sign in to view this page.')
    }
    exchange.caller = { ...callerFor(token), formToken: session.formToken }
    requireRole(token, roles)
  }

  async #authenticateAccount(
    exchange: Exchange,
    session: KnownSession & { readonly account: string },
    roles: readonly Role[],
  ): Promise<void> {
    const { provider } = this.#options
    if (provider === undefined) throw new AppError('unauthenticated', 'Sign in to view this page.')
    const account = await provider.accounts.read(session)
    const principal = principalOf(account, provider.rules)
    exchange.caller = { ...callerFor(principal), formToken: session.formToken }
    requireRole(principal, roles)
  }

  /**
   * Starts a sign-in at the provider: returns its address and the cookie for coming back. `next` is
   * the page that follows. Raises `unavailable`.
   */
  async depart(
    next: string,
    isForApproval: boolean,
  ): Promise<{ readonly url: string; readonly cookie: string }> {
    const { provider, approvalAcr } = this.#requireProvider()
    const { url, departure } = await provider.depart(isForApproval ? approvalAcr : undefined)
    const value = Buffer.from(JSON.stringify({ ...departure, next })).toString('base64url')
    const cookie = this.#cookie(this.#departureName(departure.state), value, 'Lax')
    return { url, cookie: `${cookie}; Max-Age=${DEPARTURE_SECONDS}` }
  }

  /**
   * Completes a sign-in and starts a session. Returns its cookies and the page that follows. Raises
   * `forbidden` if this browser did not start the sign-in, if the provider refuses it, or if the
   * account has no role, and `unavailable`.
   */
  async arrive(exchange: Exchange): Promise<{ readonly next: string; readonly cookies: readonly string[] }> {
    const { provider, accounts, rules } = this.#requireProvider()
    const query = exchange.target.query ?? ''
    const name = this.#departureName(new URLSearchParams(query).get('state') ?? '')
    const departure = readDeparture(cookieOf(exchange, name))
    if (departure === undefined) {
      throw new AppError(
        'forbidden',
        'This sign-in is out of date or began in another browser. Sign in again.',
        {
          code: 'sign_in_out_of_date',
        },
      )
    }
    const grant = await provider.arrive(query, departure)
    const id = randomToken()
    const { account, kept } = accounts.open(grant, id)
    principalOf(account, rules)
    const session = { tokenName: account.name, tokenDigest: '', account: kept }
    const cookies = [
      await this.#startSession(exchange, id, session),
      `${this.#cookie(name, '', 'Lax')}; Max-Age=0`,
    ]
    return { next: departure.next, cookies }
  }

  #requireProvider(): ProviderAccess {
    const { provider } = this.#options
    if (provider !== undefined) return provider
    throw new AppError('not_found', 'This service has no identity provider: auth.oidc is not configured.')
  }

  /** Several tabs can sign in at the same time. */
  #departureName(state: string): string {
    return `${this.#names.departure}${hash('sha256', state).slice(0, 16)}`
  }

  /** Returns the sign-in form. Several forms in one browser share a token, so all of them work. */
  signInForm(exchange: Exchange): SignInForm {
    const formToken = cookieOf(exchange, this.#names.form) ?? randomToken()
    return { formToken, cookie: this.#cookie(this.#names.form, formToken) }
  }

  /** Raises `forbidden` if the form was not issued to this browser. */
  checkSignInForm(exchange: Exchange, formToken: string | undefined): void {
    const given = cookieOf(exchange, this.#names.form)
    if (given !== undefined && formToken !== undefined && isSameText(given, formToken)) return
    throw new AppError('forbidden', 'This form is out of date. Reload the page and sign in again.', {
      code: 'form_out_of_date',
    })
  }

  /** Starts a session and returns its cookie. Raises `unauthenticated` for an unknown token. */
  async signIn(exchange: Exchange, presented: string): Promise<string> {
    const token = this.#findToken(presented.trim())
    if (token === undefined) throw new AppError('unauthenticated', 'Unknown token. Check it and try again.')
    return await this.#startSession(exchange, randomToken(), {
      tokenName: token.name,
      tokenDigest: digestOf(token),
    })
  }

  /** Replaces the browser's session and returns the cookie of the new one. */
  async #startSession(
    exchange: Exchange,
    id: string,
    session: Pick<BrowserSession, 'tokenName' | 'tokenDigest' | 'account'>,
  ): Promise<string> {
    await this.#endSession(exchange)
    const added = { ...session, host: hostOf(exchange), formToken: randomToken() }
    await this.#options.sessions.add(keyOf(id), added)
    return this.#cookie(this.#names.session, id)
  }

  /**
   * Ends the session. Returns the header that deletes its cookie, and the address at which an
   * account signs out at its provider, unless the provider has none or does not answer.
   */
  async signOut(
    exchange: Exchange,
  ): Promise<{ readonly cookie: string; readonly providerUrl: string | undefined }> {
    const session = await this.#sessionOf(exchange)
    await this.#endSession(exchange)
    const cookie = `${this.#cookie(this.#names.session, '')}; Max-Age=0`
    return { cookie, providerUrl: await this.#providerSignOut(session) }
  }

  async #providerSignOut(session: KnownSession | undefined): Promise<string | undefined> {
    const { provider: access } = this.#options
    if (access === undefined || session?.account === undefined) return undefined
    try {
      const idToken = access.accounts.idTokenOf({ ...session, account: session.account })
      return await access.provider.signOutUrl(idToken)
    } catch (raw) {
      if (toAppError(raw).kind === 'unavailable') return undefined
      throw raw
    }
  }

  /**
   * Ends the sessions that a logout token of the provider names, and returns them. Raises `invalid`
   * and `unavailable`.
   */
  async endByProvider(logoutToken: string): Promise<readonly EndedSession[]> {
    const { provider } = this.#requireProvider()
    const { subject, session } = await provider.verifyLogout(logoutToken)
    const ended = await this.#options.sessions.removeAccounts({ sub: subject, sid: session })
    return ended.map(({ key, tokenName }) => ({ id: key.slice(0, SHOWN_KEY_DIGITS), tokenName }))
  }

  /**
   * Sessions of a person; of everybody without a name. `isCurrent` marks that of the browser itself.
   */
  async sessionsOf(
    exchange: Exchange,
    name: string | undefined,
  ): Promise<readonly (ListedSession & { readonly id: string; readonly isCurrent: boolean })[]> {
    const cookie = cookieOf(exchange, this.#names.session)
    const current = cookie === undefined ? undefined : keyOf(cookie)
    const listed = await this.#options.sessions.list()
    return listed
      .filter(({ tokenName }) => name === undefined || tokenName === name)
      .map((session) => ({
        ...session,
        id: session.key.slice(0, SHOWN_KEY_DIGITS),
        isCurrent: session.key === current,
      }))
  }

  /** Ends a session of a person, or of anybody without a name. Raises `not_found`. */
  async revoke(exchange: Exchange, id: string, name: string | undefined): Promise<ListedSession> {
    const found = (await this.sessionsOf(exchange, name)).find((session) => session.id === id)
    if (found === undefined) throw new AppError('not_found', `there is no session ${id}`)
    await this.#options.sessions.remove(found.key)
    return found
  }

  async #endSession(exchange: Exchange): Promise<void> {
    const id = cookieOf(exchange, this.#names.session)
    if (id !== undefined) await this.#options.sessions.remove(keyOf(id))
  }

  async #sessionOf(exchange: Exchange): Promise<KnownSession | undefined> {
    const cookie = cookieOf(exchange, this.#names.session)
    if (cookie === undefined) return undefined
    const key = keyOf(cookie)
    const session = await this.#options.sessions.use(key, hostOf(exchange))
    return session && { ...session, key, cookie }
  }

  /** `Lax` cookies are sent when the provider sends the browser back. */
  #cookie(name: string, value: string, sameSite: 'Strict' | 'Lax' = 'Strict'): string {
    return `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${this.#options.isSecure ? '; Secure' : ''}`
  }
}

/** A session that the provider ended. */
interface EndedSession {
  readonly id: string
  readonly tokenName: string
}

type KnownSession = BrowserSession & { readonly key: string; readonly cookie: string }

function readDeparture(value: string | undefined): z.output<typeof Departure> | undefined {
  try {
    return Departure.parse(JSON.parse(Buffer.from(value ?? '', 'base64url').toString('utf8')))
  } catch {
    return undefined
  }
}

/** Sessions are stored by hash: lookups leak no timing, and readers of the store get no cookies. */
function keyOf(id: string): string {
  return hash('sha256', id)
}

/**
 * Sessions end if a token is replaced under the same name. Hashed again, so the store does not
 * reveal the configured digest.
 */
function digestOf({ sha256 }: TokenRecord): string {
  return hash('sha256', sha256.toLowerCase())
}

function hostOf(exchange: Exchange): string {
  return (exchange.header('host') ?? '').toLowerCase()
}

const BYTES = 32
/** Enough to tell sessions apart. */
const SHOWN_KEY_DIGITS = 16

/** Returns 32 random bytes in base64url. */
export function randomToken(): string {
  return randomBytes(BYTES).toString('base64url')
}
