import { hash, randomBytes } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import { isSameText } from '../../lib/text/same-text.js'
import { bearerOf, makeFindToken, requireRole } from '../pipeline/authenticate.js'
import type { Authenticate, AuthenticatePage, TokenRecord } from '../pipeline/authenticate.js'
import type { BrowserSession, BrowserSessions } from '../../store/ports/browser-sessions.js'

export interface BrowserAccessOptions {
  readonly tokens: readonly TokenRecord[]
  /** True if client certificates replace tokens. */
  readonly takesCertificates: boolean
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

/** Authentication of people in browsers. They sign in with a token, and a cookie replaces it. */
export class BrowserAccess {
  readonly #options: BrowserAccessOptions
  readonly #findToken: (presented: string) => TokenRecord | undefined
  readonly #names: { readonly session: string; readonly form: string }

  constructor(options: BrowserAccessOptions) {
    this.#options = options
    this.#findToken = makeFindToken(options.tokens)
    // Browsers accept this prefix only over TLS and for this host, so a sibling domain cannot set
    // the cookie (RFC 6265bis, 4.1.3.2).
    const prefix = options.isSecure ? '__Host-' : ''
    this.#names = { session: `${prefix}tidegate_session`, form: `${prefix}tidegate_sign_in` }
  }

  /** True if credentials are required. */
  get requiresTokens(): boolean {
    return this.#options.tokens.length > 0 || this.#options.takesCertificates
  }

  /**
   * Requires one of the roles. A session takes precedence over a client certificate. Raises
   * `unauthenticated` and `forbidden`.
   */
  readonly authenticate: AuthenticatePage = async (exchange, roles) => {
    const mayHaveSession = this.requiresTokens && exchange.header('authorization') === undefined
    const session = mayHaveSession ? await this.#sessionOf(exchange) : undefined
    if (!mayHaveSession || (session === undefined && this.#showsCertificate(exchange))) {
      this.#options.authenticate(exchange, roles)
      exchange.caller = { ...exchange.caller, formToken: this.#options.formToken }
      return
    }
    const token = this.#options.tokens.find((each) => each.name === session?.tokenName)
    if (session === undefined || token === undefined || session.tokenDigest !== digestOf(token)) {
      throw new AppError('unauthenticated', 'Sign in to view this page.')
    }
    exchange.caller = { ...bearerOf(token), formToken: session.formToken }
    requireRole(token, roles)
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
    await this.#endSession(exchange)
    const id = randomToken()
    await this.#options.sessions.add(keyOf(id), {
      tokenName: token.name,
      tokenDigest: digestOf(token),
      host: hostOf(exchange),
      formToken: randomToken(),
    })
    return this.#cookie(this.#names.session, id)
  }

  /** Ends the session and returns the header that deletes its cookie. */
  async signOut(exchange: Exchange): Promise<string> {
    await this.#endSession(exchange)
    return `${this.#cookie(this.#names.session, '')}; Max-Age=0`
  }

  #showsCertificate(exchange: Exchange): boolean {
    return this.#options.takesCertificates && exchange.clientCertificate !== undefined
  }

  async #endSession(exchange: Exchange): Promise<void> {
    const id = cookieOf(exchange, this.#names.session)
    if (id !== undefined) await this.#options.sessions.remove(keyOf(id))
  }

  async #sessionOf(exchange: Exchange): Promise<BrowserSession | undefined> {
    const id = cookieOf(exchange, this.#names.session)
    return id === undefined ? undefined : await this.#options.sessions.use(keyOf(id), hostOf(exchange))
  }

  #cookie(name: string, value: string): string {
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${this.#options.isSecure ? '; Secure' : ''}`
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

/**
 * Returns a cookie (RFC 6265, 4.2.1). A repeated cookie is ignored, since it is unknown which one
 * is genuine.
 */
function cookieOf(exchange: Exchange, name: string): string | undefined {
  const pairs = (exchange.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  const values = pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

const BYTES = 32

/** Returns 32 random bytes in base64url. */
export function randomToken(): string {
  return randomBytes(BYTES).toString('base64url')
}
