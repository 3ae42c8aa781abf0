import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import { printable } from '../../lib/text/shown-text.js'
import { FORM_TOKEN } from '../input/form-body.js'
import { PAGE_STYLES } from './styles.js'

/** A piece of a page. What is put into one by `html` is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Whose page it is. */
export interface Viewer {
  /** The name of the token that is signed in with; undefined where nobody is asked for one, or nobody is signed in. */
  readonly name: string | undefined
  /** What forms carry; undefined where nobody is signed in. */
  readonly formToken: string | undefined
  /** What stands before the paths of pages: the path of the public URL, without a slash at its end. */
  readonly prefix: string
}

export interface PageContent {
  readonly title: string
  readonly body: Html
}

/** A page as a text: it loads nothing, runs no script, and shows what others wrote as text alone. */
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
  // Names and texts are of others: none may change the direction of the text around it.
  return printable((await page).toString())
}

/** The field of a form that says whose page it is on. */
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
