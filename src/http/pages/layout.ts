import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { Role } from '../../config/sections/roles.js'
import { printable } from '../../lib/text/shown-text.js'
import { FORM_TOKEN } from '../input/form-body.js'
import { PAGE_SCRIPT } from './page-script.js'
import { PAGE_STYLES } from './page-styles.js'

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
  /** Roles of the viewer. An admin has all of them. */
  readonly roles: readonly Role[]
}

/** Paths of the sections, as in the navigation. */
export type Section = (typeof SECTIONS)[number]['path']

export interface PageContent {
  readonly title: string
  readonly body: Html
  /** Section that the page belongs to. */
  readonly section?: Section | undefined
  /** True if text fields with `data-language` become editors. */
  readonly usesEditor?: true
}

/** The script of editors and the nonce that the CSP allows it by. */
export interface PageEditor {
  readonly path: string
  readonly nonce: string
}

/** Roles of people. Programs have the role `orchestrator` alone. */
export const PEOPLE: readonly Role[] = ['approver', 'auditor']
/** People who may open the pages of policies. */
export const POLICY_READERS: readonly Role[] = [...PEOPLE, 'author']
/** Everybody who signs in: people, and programs that open pages. */
export const SIGNED_IN: readonly Role[] = [...POLICY_READERS, 'orchestrator']
const AUDITORS: readonly Role[] = ['auditor']

/** The navigation: each section with the roles that may open it. */
export const SECTIONS = [
  { path: '/', label: 'Home', roles: POLICY_READERS },
  { path: '/ui/approvals', label: 'Approvals', roles: PEOPLE },
  { path: '/ui/decisions', label: 'Decisions', roles: AUDITORS },
  { path: '/ui/policies', label: 'Policies', roles: POLICY_READERS },
  { path: '/ui/analyses', label: 'Analyses', roles: PEOPLE },
  { path: '/ui/estate', label: 'Estate', roles: AUDITORS },
  { path: '/ui/trail', label: 'Trail', roles: AUDITORS },
  { path: '/ui/operations', label: 'Operations', roles: AUDITORS },
  { path: '/ui/account', label: 'Account', roles: POLICY_READERS },
] as const

/** Renders a page. It loads nothing but the script of its editors. */
export async function renderPage(
  { title, body, section }: PageContent,
  viewer: Viewer,
  editor?: PageEditor,
): Promise<string> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Tidegate</title>
        ${raw(`<style>${PAGE_STYLES}</style>`)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <strong>Tidegate</strong>
          ${navigation(viewer, section)} ${viewer.name === undefined ? '' : signOutForm(viewer, viewer.name)}
        </header>
        <main id="content" tabindex="-1">${body}</main>
        <footer class="soft">Times are in <span data-zone>UTC</span>.</footer>
        ${raw(`<script>${PAGE_SCRIPT}</script>`)}
        ${editor && html`<script nonce="${editor.nonce}" src="${viewer.prefix}${editor.path}" defer></script>`}
      </body>
    </html>`
  // Names and texts are untrusted: remove characters that change the text direction.
  return printable((await page).toString())
}

function navigation({ prefix, roles }: Viewer, section: Section | undefined): Html {
  const open = SECTIONS.filter((each) => each.roles.some((role) => roles.includes(role)))
  if (open.length === 0) return html``
  return html`<nav aria-label="Sections">
    ${open.map(
      ({ path, label }) =>
        html`<a href="${prefix}${path}" ${path === section ? raw('aria-current="page"') : ''}>${label}</a>`,
    )}
  </nav>`
}

/** The hidden field with the CSRF token. */
export function tokenField({ formToken = '' }: Pick<Viewer, 'formToken'>): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${formToken}" />`
}

function signOutForm(viewer: Viewer, name: string): Html {
  return html`<form class="who" method="post" action="${viewer.prefix}/ui/sign-out">
    ${tokenField(viewer)}
    <span class="soft">${name}</span>
    <button class="plain">Sign out</button>
  </form>`
}
