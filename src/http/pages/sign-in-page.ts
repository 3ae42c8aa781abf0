import { html } from 'hono/html'

import type { AppError } from '../../errors/app-error.js'
import { tokenField } from './layout.js'
import type { Html, PageContent } from './layout.js'
import { problemList, unsentTexts } from './parts.js'
import type { Unsent } from './parts.js'

export interface SignInView {
  readonly formToken: string
  readonly prefix: string
  /** Path of the page that follows after signing in. */
  readonly next: string
  readonly problem?: string | undefined
  /** Text after "Sign in with"; undefined if there is no identity provider. */
  readonly providerLabel: string | undefined
  /** True if tokens are configured. */
  readonly takesTokens: boolean
  /** True if the page is in a frame, where browsers may withhold its cookie. */
  readonly isFramed: boolean
  /** Form contents that the viewer had entered when the session ended. */
  readonly unsent: Unsent
}

/** Renders the sign-in form. */
export function signInPage(view: SignInView): PageContent {
  const { prefix, next, problem, isFramed, unsent, providerLabel, takesTokens } = view
  const body = html`<section class="narrow">
    <h1>Sign in</h1>
    ${problem === undefined ? '' : notice(problem)}
    ${providerLabel === undefined ? '' : providerLink(view, providerLabel)}
    ${takesTokens ? tokenForm(view) : ''} ${isFramed ? ownTab(prefix, next) : ''} ${unsentTexts(unsent)}
  </section>`
  return { title: 'Sign in', body }
}

function providerLink({ prefix, next }: SignInView, label: string): Html {
  return html`<p>
    <a class="button" href="${prefix}/ui/sign-in/start?next=${encodeURIComponent(next)}"
      >Sign in with ${label}</a
    >
  </p>`
}

function tokenForm(view: SignInView): Html {
  return html`<form method="post" action="${view.prefix}/ui/sign-in">
      ${tokenField(view)}
      <input type="hidden" name="next" value="${view.next}" />
      <label for="token">Your token</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="current-password"
        required
        maxlength="500"
      />
      <button class="good">Sign in</button>
    </form>
    <p class="soft">Use your API token from auth.tokens. The browser does not store it.</p>`
}

function ownTab(prefix: string, next: string): Html {
  return html`<p>
    <a href="${prefix}${next}" target="_blank" rel="noopener">Open this page in its own tab</a>
    if signing in fails. Browsers may block cookies in frames of other sites.
  </p>`
}

/** Renders what people see between signing out here and at the provider. */
export function signedOutPage(providerUrl: string, label: string): PageContent {
  const body = html`<section class="narrow">
    <h1>Signed out</h1>
    <p>You are signed out here. <a href="${providerUrl}">Sign out of ${label}, too</a></p>
  </section>`
  return { title: 'Signed out', body }
}

/** Renders an error notice. */
export function notice(text: string): Html {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`
  return html`<p class="verdict bad" role="alert"><span>${sentence}</span></p>`
}

/** What a form was refused for, as its page shows it. */
export type ShownProblem = Pick<AppError, 'message' | 'details'> & { readonly kind: 'problem' }

/** Renders a problem: its message, and the details that have a place or are not in the message. */
export function problemNotice({ message, details }: ShownProblem): Html {
  const more = details.filter(({ message: text, location }) => location ?? !message.includes(text))
  return html`${notice(message)} ${problemList(more)}`
}

/** Renders an error page. */
export function errorPage(status: number, message: string, unsent: Unsent): PageContent {
  const title = TITLES[status] ?? 'Something went wrong'
  const body = html`<h1>${title}</h1>
    ${notice(message)} ${unsentTexts(unsent)}`
  return { title, body }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  403: 'Not allowed',
  404: 'Page not found',
  409: 'No longer possible',
  503: 'Temporarily unavailable',
}
