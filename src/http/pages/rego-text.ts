import { html } from 'hono/html'

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

/** Renders Rego with comments, strings and keywords marked. */
export function regoText(source: string): Html {
  if (source.length > MAX_COLOURED) return html`<pre class="code rego" tabindex="0">${source}</pre>`
  const parts: Html[] = []
  let end = 0
  for (const { 0: token, index, groups } of source.matchAll(TOKENS)) {
    const kind = Object.keys(groups ?? {}).find((name) => groups?.[name] !== undefined) ?? 'word'
    parts.push(html`${source.slice(end, index)}<span class="${kind}">${token}</span>`)
    end = index + token.length
  }
  return html`<pre class="code rego" tabindex="0">${parts}${source.slice(end)}</pre>`
}

/** Returns the lines of the `# METADATA` comments of a file, without their comment marks. */
export function metadataIn(source: string): readonly string[] {
  const blocks: string[] = []
  let block: string[] | undefined
  for (const line of source.split('\n')) {
    if (/^#\s*METADATA\s*$/.test(line)) block = []
    else if (block !== undefined && line.startsWith('#')) block.push(line.replace(/^# ?/, ''))
    else if (block !== undefined) {
      blocks.push(`${block.join('\n')}\n→ ${line.trim()}`)
      block = undefined
    }
  }
  return blocks
}
