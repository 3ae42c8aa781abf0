import { createHash, randomBytes } from 'node:crypto'

import { EDITOR_PATH, editorScript } from './editor-script.js'
import { renderPage } from './layout.js'
import type { PageContent, Viewer } from './layout.js'
import { PAGE_SCRIPT } from './page-script.js'
import { PAGE_STYLES } from './page-styles.js'

/** Options that all pages share. */
export interface PageOptions {
  /** Origins that may embed the pages in a frame. */
  readonly frameAncestors: readonly string[]
  /** Path of the public URL, without a trailing slash. */
  readonly prefix: string
}

export interface PageAnswer {
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
}

const STYLE_HASH = createHash('sha256').update(PAGE_STYLES).digest('base64')
const SCRIPT_HASH = createHash('sha256').update(PAGE_SCRIPT).digest('base64')
const NONCE_BYTES = 16
const HTML = 'text/html; charset=utf-8'

/** Returns the CSP directive for embedding. */
export function frameDirective({ frameAncestors }: Pick<PageOptions, 'frameAncestors'>): string {
  return `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`
}

/**
 * Returns a page with a strict CSP: the page's own scripts, no external resources, no foreign form
 * targets, and frames only for configured origins. An editor makes its styles with the nonce.
 */
export async function answerPage(
  content: PageContent,
  viewer: Viewer,
  options: PageOptions,
  { status = 200, headers = [] }: PageAnswer = {},
): Promise<Response> {
  const script = content.usesEditor && editorScript()
  const editor = script && {
    path: `${EDITOR_PATH}?v=${script.version}`,
    nonce: randomBytes(NONCE_BYTES).toString('base64'),
  }
  const nonce = editor ? ` 'nonce-${editor.nonce}'` : ''
  const all = new Headers({
    'Content-Type': HTML,
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'${nonce}; script-src 'sha256-${SCRIPT_HASH}'${nonce}; connect-src 'self'; base-uri 'none'; form-action 'self'; ${frameDirective(options)}`,
    // With "no-referrer", browsers would send "Origin: null" with forms.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    ...(options.frameAncestors.length === 0 && { 'X-Frame-Options': 'DENY' }),
  })
  for (const [name, value] of headers) all.append(name, value)
  return new Response(await renderPage(content, viewer, editor), { status, headers: all })
}

/** Redirects to another page of this service. */
export function goTo(path: string, headers: readonly (readonly [string, string])[] = []): Response {
  const all = new Headers({ 'Content-Type': HTML, Location: path, 'Cache-Control': 'no-store' })
  for (const [name, value] of headers) all.append(name, value)
  return new Response(null, { status: 303, headers: all })
}
