import { hash, randomBytes } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import { isSameText } from '../../lib/text/same-text.js'
import { bearerOf, makeFindToken, requireRole } from '../pipeline/authenticate.js'
import type { Authenticate, AuthenticatePage, TokenRecord } from '../pipeline/authenticate.js'
import type { BrowserSession, BrowserSessions } from '../../store/ports/browser-sessions.js'

export interface BrowserAccessOptions {
  readonly tokens: readonly TokenRecord[]
  /** Whether certificates stand for tokens. */
  readonly takesCertificates: boolean
  /** Whether people reach the service by TLS. */
  readonly isSecure: boolean
  readonly sessions: BrowserSessions
  /** What the forms hold of who needs no session: no page of others reads it. */
  readonly formToken: string
  /** Lets in who sends a token instead, as the rest of the API does. */
  readonly authenticate: Authenticate
}

/** What a form asks for where nobody is signed in yet. */
export interface SignInForm {
  readonly formToken: string
  /** The header that gives the browser the same token. */
  readonly cookie: string
}

/** How people in browsers are let in: they sign in with a token of theirs, and a cookie stands for it then. */
export class BrowserAccess {
  readonly #options: BrowserAccessOptions
  readonly #findToken: (presented: string) => TokenRecord | undefined
  readonly #names: { readonly session: string; readonly form: string }

  constructor(options: BrowserAccessOptions) {
    this.#options = options
    this.#findToken = makeFindToken(options.tokens)
    // Browsers take this prefix only over TLS, for this very host, so that no neighbour of its domain sets the cookie (RFC 6265bis, 4.1.3.2).
    const prefix = options.isSecure ? '__Host-' : ''
    this.#names = { session: `${prefix}tidegate_session`, form: `${prefix}tidegate_sign_in` }
  }

  /** Whether people are asked who they are. */
  get requiresTokens(): boolean {
    return this.#options.tokens.length > 0 || this.#options.takesCertificates
  }

  /** Lets a page be seen by who has one of some roles: whoever has signed in goes on as that, whichever certificate the browser shows. Raises `unauthenticated`, `forbidden`. */
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
      throw new AppError('unauthenticated', 'sign in to see this page')
    }
    exchange.caller = { ...bearerOf(token), formToken: session.formToken }
    requireRole(token, roles)
  }

  /** What the form to sign in holds; a second one in the same browser holds the same, so that both work. */
  signInForm(exchange: Exchange): SignInForm {
    const formToken = cookieOf(exchange, this.#names.form) ?? randomToken()
    return { formToken, cookie: this.#cookie(this.#names.form, formToken) }
  }

  /** Raises `forbidden` where the form to sign in is not one that this browser was given. */
  checkSignInForm(exchange: Exchange, formToken: string | undefined): void {
    const given = cookieOf(exchange, this.#names.form)
    if (given !== undefined && formToken !== undefined && isSameText(given, formToken)) return
    throw new AppError('forbidden', 'this form is out of date: load the page again and sign in once more', {
      code: 'form_out_of_date',
    })
  }

  /** Begins a session with a token; returns its cookie. Raises `unauthenticated` for one that is not known. */
  async signIn(exchange: Exchange, presented: string): Promise<string> {
    const token = this.#findToken(presented.trim())
    if (token === undefined) throw new AppError('unauthenticated', 'this token is not known')
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

  /** Ends the session of a browser; returns the header that takes its cookie away. */
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

/** A lookup by it tells nothing of how much of a cookie is right, and who reads it where it is kept has no cookie. */
function keyOf(id: string): string {
  return hash('sha256', id)
}

/** Of a token that is replaced under the same name, the sessions end. Who reads where it is kept does not learn by which digest tokens are known. */
function digestOf({ sha256 }: TokenRecord): string {
  return hash('sha256', sha256.toLowerCase())
}

function hostOf(exchange: Exchange): string {
  return (exchange.header('host') ?? '').toLowerCase()
}

/** A cookie of a request (RFC 6265, 4.2.1); one that is there twice is none, since nobody knows which is ours. */
function cookieOf(exchange: Exchange, name: string): string | undefined {
  const pairs = (exchange.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  const values = pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

const BYTES = 32

/** A text that nobody guesses. */
export function randomToken(): string {
  return randomBytes(BYTES).toString('base64url')
}
