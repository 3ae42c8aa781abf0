import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import { printable } from '../../lib/text/shown-text.js'
import { FORM_TOKEN } from '../input/form-body.js'
import { REPORT_STYLES } from '../analysis-report/styles.js'

/** Styles of all pages, including those of reports. One string, since the CSP contains its hash. */
export const PAGE_STYLES = `${REPORT_STYLES}
.top { display: flex; gap: .4rem 1.2rem; align-items: center; flex-wrap: wrap; padding-bottom: .6rem; margin-bottom: 1rem;
  border-bottom: 1px solid var(--line); } .top strong { font-size: 1.05rem; } .top form { margin-left: auto; }
a { color: var(--baseline); } label { display: block; font-weight: 600; margin: .8rem 0 .2rem; }
input, textarea, select { width: 100%; padding: .5rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 6px; } textarea { min-height: 5rem; resize: vertical; }
.filter { display: flex; gap: .4rem 1rem; align-items: end; flex-wrap: wrap; margin: .6rem 0; } .filter div { flex: 1 1 12rem; }
.filter div:first-child { flex-grow: 3; } .filter button { margin: 0; } .pages { display: flex; gap: .3rem 1.2rem; flex-wrap: wrap; margin: .6rem 0; }
textarea.code { font: .85rem/1.4 ui-monospace, monospace; min-height: 18rem; }
button { padding: .5rem 1rem; margin: .6rem .5rem 0 0; font: inherit; font-weight: 600; color: inherit; cursor: pointer;
  background: var(--card); border: 2px solid var(--soft); border-radius: 6px; min-height: 2.75rem; }
button.good { border-color: var(--good); color: var(--good); } button.bad { border-color: var(--bad); color: var(--bad); }
button.plain { margin: 0; min-height: 0; padding: .2rem .6rem; font-weight: 400; border-width: 1px; font-size: .9rem; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible, summary:focus-visible {
  outline: 3px solid var(--canary); outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
@media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .4rem; }
  button { width: 100%; } button.plain { width: auto; } }
@media (max-width: 44rem) { .stacked td[data-label]:not(.number, :empty)::before { content: attr(data-label) ': '; color: var(--soft); } }
body { overflow-wrap: anywhere; } th { overflow-wrap: normal; } td { min-width: 6rem; } td.number { min-width: 0; } pre { padding: .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); }
.narrow { max-width: 30rem; margin: 2rem auto; } .quote { white-space: pre-wrap; overflow-wrap: anywhere; }
`

/** A piece of a page. Values in `html` templates are escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** The person who views the page. */
export interface Viewer {
  /** Name of the token; undefined if tokens are not required or nobody is signed in. */
  readonly name: string | undefined
  /** CSRF token; undefined if nobody is signed in. */
  readonly formToken: string | undefined
  /** Path prefix of links: the path of the public URL, without a trailing slash. */
  readonly prefix: string
}

export interface PageContent {
  readonly title: string
  readonly body: Html
}

/** Renders a page without scripts or external resources. */
export async function renderPage({ title, body }: PageContent, viewer: Viewer): Promise<string> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Tidegate</title>
        ${raw(`<style>${PAGE_STYLES}</style>`)}
      </head>
      <body>
        <header class="top">
          <strong>Tidegate</strong>
          <a href="${viewer.prefix}/ui">Approvals</a>
          ${viewer.name === undefined ? '' : signOutForm(viewer, viewer.name)}
        </header>
        <main>${body}</main>
      </body>
    </html>`
  // Names and texts are untrusted: remove characters that change the text direction.
  return printable((await page).toString())
}

/** The hidden field with the CSRF token. */
export function tokenField({ formToken = '' }: Pick<Viewer, 'formToken'>): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${formToken}" />`
}

function signOutForm(viewer: Viewer, name: string): Html {
  return html`<form method="post" action="${viewer.prefix}/ui/sign-out">
    ${tokenField(viewer)}
    <span class="soft">${name}</span>
    <button class="plain">Sign out</button>
  </form>`
}
