import { html } from 'hono/html'

import { tokenField } from './layout.js'
import type { Html, PageContent } from './layout.js'
import { unsentTexts } from './parts.js'

export interface SignInView {
  readonly formToken: string
  readonly prefix: string
  /** The path of the page to go on to. */
  readonly next: string
  readonly problem?: string | undefined
  /** Whether the page stands in a frame, where a browser may keep its cookie back. */
  readonly isFramed: boolean
  /** What the viewer had written when the session ended. */
  readonly unsent: Unsent
}

/** The texts of a form that was not carried out, by field. */
export type Unsent = readonly (readonly [name: string, text: string])[]

/** The page on which a person gives their token. */
export function signInPage(view: SignInView): PageContent {
  const { prefix, next, problem, isFramed, unsent } = view
  const body = html`<section class="narrow">
    <h1>Sign in</h1>
    ${problem === undefined ? '' : notice(problem)}
    <form method="post" action="${prefix}/ui/sign-in">
      ${tokenField(view)}
      <input type="hidden" name="next" value="${next}" />
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
    <p class="soft">
      The token of yours that auth.tokens lists, as programs send it. It is not kept in the browser.
    </p>
    ${isFramed ? ownTab(prefix, next) : ''} ${unsentTexts(unsent)}
  </section>`
  return { title: 'Sign in', body }
}

function ownTab(prefix: string, next: string): Html {
  return html`<p>
    <a href="${prefix}${next}" target="_blank" rel="noopener">Open this page in a tab of its own</a>
    where signing in does not lead on: browsers keep cookies from pages in frames of other sites.
  </p>`
}

/** What went wrong, in a frame. */
export function notice(text: string): Html {
  return html`<p class="verdict bad" role="alert"><span>${text}</span></p>`
}

/** The page of an error. */
export function errorPage(status: number, message: string, code: string, unsent: Unsent): PageContent {
  const title = TITLES[status] ?? 'This did not work'
  const body = html`<h1>${title}</h1>
    ${notice(message)}
    <p class="soft">${status} ${code}</p>
    ${unsentTexts(unsent)}`
  return { title, body }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'This cannot be read',
  403: 'You may not do this',
  404: 'There is no such page',
  409: 'This is not possible any more',
  503: 'Not possible just now',
}
