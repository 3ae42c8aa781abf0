import { html } from 'hono/html'

import type { FileCoverage } from '../../rego/index.js'
import type { Html } from './layout.js'

const KEYWORDS = 'as|contains|default|else|every|false|if|import|in|not|null|package|some|true|with'
const TOKENS = new RegExp(
  [
    /(?<note>#.*)/.source,
    /(?<text>"(?:\\.|[^"\\\n])*"?|`[^`]*`?)/.source,
    `(?<word>\\b(?:${KEYWORDS})\\b)`,
  ].join('|'),
  'g',
)

/** Longer files are shown without colours. */
const MAX_COLOURED = 100_000

/** Renders Rego with line numbers, comments, strings and keywords marked, and evaluated lines. */
export function regoText(source: string, coverage: FileCoverage | undefined): Html {
  if (source.length > MAX_COLOURED) return html`<pre class="code rego" tabindex="0">${source}</pre>`
  const lines: Html[][] = [[]]
  const add = (text: string, kind: string | undefined): void => {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([])
      lines.at(-1)?.push(kind === undefined ? html`${part}` : html`<span class="${kind}">${part}</span>`)
    }
  }
  let end = 0
  for (const { 0: token, index, groups } of source.matchAll(TOKENS)) {
    add(source.slice(end, index), undefined)
    add(token, Object.keys(groups ?? {}).find((name) => groups?.[name] !== undefined) ?? 'word')
    end = index + token.length
  }
  add(source.slice(end), undefined)
  if (source.endsWith('\n')) lines.length -= 1
  const marks = new Map([
    ...(coverage?.covered ?? []).map((row) => [row, 'covered'] as const),
    ...(coverage?.uncovered ?? []).map((row) => [row, 'uncovered'] as const),
  ])
  // Without spaces between the lines, which `pre` would show.
  return html`<pre class="code rego numbered" tabindex="0">
${lines.map((parts, index) => {
      const mark = marks.get(index + 1) ?? ''
      return html`<span class="line ${mark}">${parts}${'\n'}</span>`
    })}</pre>`
}
