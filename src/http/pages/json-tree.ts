import { html } from 'hono/html'

import { cutText } from '../../lib/text/shown-text.js'
import type { Html } from './layout.js'

/** Values drawn in one tree. Browsers become slow with tens of thousands of elements. */
const MAX_NODES = 3000
const MAX_DEPTH = 60
const MAX_TEXT = 2000
/** Levels that are open at first. */
const OPEN_LEVELS = 2

/** Renders a JSON value as a tree that can be folded without a script. */
export function jsonTree(value: unknown, openLevels = OPEN_LEVELS): Html {
  const budget = { left: MAX_NODES, openLevels }
  const tree = html`<div class="tree">${node(value, 0, budget)}</div>`
  return budget.left > 0
    ? tree
    : html`${tree}
        <p class="soft">The tree shows the first ${MAX_NODES} values.</p>`
}

interface Budget {
  left: number
  readonly openLevels: number
}

function node(value: unknown, depth: number, budget: Budget, name?: string): Html {
  budget.left -= 1
  const key = name === undefined ? '' : html`<span class="key">${cutText(name, MAX_TEXT)}</span>: `
  if (typeof value !== 'object' || value === null) return html`${key}${scalar(value)}`
  if (depth >= MAX_DEPTH) return html`${key}<span class="soft">…</span>`
  const members: readonly (readonly [string, unknown])[] = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return html`${key}${open}${close}`
  return html`<details ${depth < budget.openLevels ? 'open' : ''}>
    <summary>${key}${open} ${members.length} ${close}</summary>
    <ul>
      ${members.map(([each, member]) =>
        budget.left > 0 ? html`<li>${node(member, depth + 1, budget, each)}</li>` : '',
      )}
    </ul>
  </details>`
}

function scalar(value: unknown): Html {
  return html`<span class="text">${cutText(JSON.stringify(value), MAX_TEXT)}</span>`
}
