import { createHash } from 'node:crypto'

import { renderPage, PAGE_STYLES } from './layout.js'
import type { PageContent, Viewer } from './layout.js'

/** How pages are answered, whatever they show. */
export interface PageOptions {
  /** The origins whose pages may show these in a frame. */
  readonly frameAncestors: readonly string[]
  /** The path of the public URL, without a slash at its end. */
  readonly prefix: string
}

export interface PageAnswer {
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
}

const STYLE_HASH = createHash('sha256').update(PAGE_STYLES).digest('base64')
const HTML = 'text/html; charset=utf-8'

/** The directives that say who may show a page in a frame. */
export function frameDirective({ frameAncestors }: Pick<PageOptions, 'frameAncestors'>): string {
  return `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`
}

/** A page with what keeps it to itself: no script, nothing from elsewhere, no form to elsewhere, no frame but where it is wanted. */
export async function answerPage(
  content: PageContent,
  viewer: Viewer,
  options: PageOptions,
  { status = 200, headers = [] }: PageAnswer = {},
): Promise<Response> {
  const all = new Headers({
    'Content-Type': HTML,
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'self'; ${frameDirective(options)}`,
    // Not "no-referrer": browsers would send "Origin: null" with forms.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    ...(options.frameAncestors.length === 0 && { 'X-Frame-Options': 'DENY' }),
  })
  for (const [name, value] of headers) all.append(name, value)
  return new Response(await renderPage(content, viewer), { status, headers: all })
}

/** Sends a browser on to another page of ours. */
export function goTo(path: string, headers: readonly (readonly [string, string])[] = []): Response {
  const all = new Headers({ 'Content-Type': HTML, Location: path, 'Cache-Control': 'no-store' })
  for (const [name, value] of headers) all.append(name, value)
  return new Response(null, { status: 303, headers: all })
}
