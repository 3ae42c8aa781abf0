import { html } from 'hono/html'

import { cutText } from '../../lib/text/shown-text.js'
import type { Tone } from '../analysis-report/tone.js'
import type { Html } from './layout.js'

const MAX_VALUE = 4000
const MAX_JSON = 40_000

/** A time as people read it, in UTC. */
export function clock(timeMs: number | undefined): string {
  if (timeMs === undefined) return ''
  return `${new Date(timeMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '')} UTC`
}

const MINUTE_MS = 60_000
const UNITS = [
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const

/** A time to come in its largest whole unit, such as `in 3 hours`. */
export function timeLeft(leftMs: number): string {
  const minutes = Math.floor(leftMs / MINUTE_MS)
  const [unit, size] = UNITS.find(([, each]) => minutes >= each) ?? ['minute', 1]
  if (minutes < 1) return 'in less than a minute'
  const count = Math.floor(minutes / size)
  return `in ${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Names and what they stand for; what is undefined or empty is left out. */
export function facts(rows: readonly (readonly [name: string, value: unknown])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return html`<dl>
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${shownValue(value)}</dd>`,
    )}
  </dl>`
}

/** A value that somebody else has given, as a text. */
export function shownValue(value: unknown): string {
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE)
}

/** A document, indented. */
export function jsonBlock(value: unknown): Html {
  return html`<pre>${cutText(JSON.stringify(value, null, 2), MAX_JSON)}</pre>`
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ approved: 'good', allow: 'good', fetched: 'good', delivered: 'good', approve: 'good' },
  ...{ rejected: 'bad', deny: 'bad', failed: 'bad', error: 'bad', given_up: 'bad', reject: 'bad' },
  ...{ activated: 'doubt', not_activated: 'doubt', skipped: 'doubt', pending: 'doubt' },
}

/** How a state of a gate, of evidence or of a decision is to be taken. */
export function toneOfState(state: string): Tone {
  return TONES[state] ?? 'soft'
}

const WORDS: Readonly<Record<string, string>> = {
  ...{ activated: 'waits for a decision', not_activated: 'not triggered yet', given_up: 'given up' },
}

/** A state in the words of people. */
export function wordOfState(state: string): string {
  return WORDS[state] ?? state
}

/** The texts of a form that was not carried out, to be copied: by field. */
export function unsentTexts(texts: readonly (readonly [name: string, text: string])[]): Html {
  if (texts.length === 0) return html``
  return html`<h2>What you wrote</h2>
    <p class="soft">It was not sent. Copy what you want to send again.</p>
    ${texts.map(
      ([name, text]) =>
        html`<label for="unsent-${name}">${name}</label>
          <textarea id="unsent-${name}" readonly>${text}</textarea>`,
    )}`
}
