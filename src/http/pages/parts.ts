import { html, raw } from 'hono/html'

import type { ErrorDetail } from '../../errors/app-error.js'
import { claimedName } from '../../lib/text/claimed-name.js'
import { cutText } from '../../lib/text/shown-text.js'
import { toneOf } from '../analysis-report/tone.js'
import type { Tone } from '../analysis-report/tone.js'
import type { Html } from './layout.js'

const MAX_VALUE = 4000
const MAX_JSON = 40_000

/** Formats a time in UTC. */
export function clock(timeMs: number | undefined): string {
  if (timeMs === undefined) return ''
  return `${new Date(timeMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '')} UTC`
}

/** Renders a time: UTC in the page and as its title, which the script replaces by local time. */
export function moment(time: number | string | undefined): Html | '' {
  if (time === undefined) return ''
  const ms = typeof time === 'string' ? Date.parse(time) : time
  return html`<time datetime="${new Date(ms).toISOString()}" title="${clock(ms)}">${clock(ms)}</time>`
}

const MINUTE_MS = 60_000
const UNITS = [
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const

/** Formats a future time in its largest whole unit, such as `in 3 hours`. */
export function timeLeft(leftMs: number): string {
  return `in ${longDuration(leftMs)}`
}

/** Formats a duration in its largest whole unit, such as `3 hours`. */
export function longDuration(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  const [unit, size] = UNITS.find(([, each]) => minutes >= each) ?? ['minute', 1]
  if (minutes < 1) return 'less than a minute'
  const count = Math.floor(minutes / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Formats a duration, such as `2.5 ms` or `3 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toPrecision(2))} ms`
  return `${Number((ms / 1000).toPrecision(3))} s`
}

/** Renders names and values; undefined, null and empty values are omitted. */
export function facts(rows: readonly (readonly [name: string, value: unknown])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return html`<dl>
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          ${isHtml(value) ? html`<dd class="rich">${value}</dd>` : html`<dd>${shownValue(value)}</dd>`}`,
    )}
  </dl>`
}

function isHtml(value: unknown): value is Html {
  return value instanceof Promise || (value instanceof String && 'isEscaped' in value)
}

/** Formats an untrusted value as text. */
export function shownValue(value: unknown): string {
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE)
}

/** Renders the problems of an error with their places. */
export function problemList(details: readonly ErrorDetail[]): Html {
  if (details.length === 0) return html``
  return html`<ul>
    ${details.map(
      ({ message, location }) =>
        html`<li>
          ${location && html`<code>${location.file}:${location.row}</code>`}
          <span class="quote">${message}</span>
        </li>`,
    )}
  </ul>`
}

/** Renders a value as indented JSON. */
export function jsonBlock(value: unknown): Html {
  return html`<pre tabindex="0">${cutText(JSON.stringify(value, null, 2), MAX_JSON)}</pre>`
}

/** Renders a link. */
export function link(prefix: string, path: string, text: Html | string): Html {
  return html`<a href="${prefix}${path}">${text}</a>`
}

/** Returns the path of the page of a decision. */
export function decisionPath(decisionId: string): string {
  return `/ui/decisions/${encodeURIComponent(decisionId)}`
}

/** Renders a link to the page of an execution. */
export function executionLink(prefix: string, executionId: string): Html {
  return link(prefix, `/ui/executions/${encodeURIComponent(executionId)}`, cutText(executionId, MAX_ID))
}

const CLAIMED = claimedName('')

/** Formats who did something. A name that a program gave without proof is marked. */
export function personText(user: string | undefined): string {
  if (user === undefined) return ''
  return user.startsWith(CLAIMED) ? `${user.slice(CLAIMED.length)} (unverified)` : user
}

/** Longest id in a list. */
const MAX_ID = 300

/** Renders an empty list: what is missing, and what to do next. */
export function empty(what: string, next: Html | string = ''): Html {
  return html`<p class="none">${what} ${next}</p>`
}

/** Renders the attribute of a chosen option, or nothing. */
export function flag(name: 'selected' | 'checked', isSet: boolean): Html | string {
  return isSet ? raw(name) : ''
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ approved: 'good', allow: 'good', fetched: 'good', delivered: 'good', approve: 'good', OK: 'good' },
  ...{ rejected: 'bad', deny: 'bad', failed: 'bad', error: 'bad', given_up: 'bad', reject: 'bad' },
  ...{ ok: 'good', failing: 'bad', lost: 'bad' },
  ...{ activated: 'doubt', not_activated: 'doubt', skipped: 'doubt', pending: 'doubt', undefined: 'doubt' },
  ...{ SUCCEEDED: 'good', TERMINAL: 'bad', FAILED: 'bad', NOT_READY: 'bad', WARN: 'doubt' },
}

/** Returns the tone of a gate state, evidence state or outcome. */
export function toneOfState(state: string): Tone {
  return TONES[state] ?? toneOf(state)
}

const WORDS: Readonly<Record<string, string>> = {
  ...{ activated: 'waiting for a decision', not_activated: 'not triggered yet', given_up: 'given up' },
  ...{ canceled: 'withdrawn', cancel: 'withdraw', NOT_READY: 'not ready', WARN: 'warning' },
}

/** Returns a state as shown to people. */
export function wordOfState(state: string): string {
  return WORDS[state] ?? state
}

/**
 * Renders the fields of a form that was not processed, so that they can be copied. The script fills
 * them in on the page of the form.
 */
export function unsentTexts({ page, fields }: Unsent): Html {
  if (fields.length === 0) return html``
  return html`<section data-unsent="${page}">
    <h2>Your input</h2>
    <p class="soft">This was not saved. Copy what you want to submit again.</p>
    ${fields.map(
      ([name, text]) =>
        html`<label for="unsent-${name}">${name}</label>
          <textarea id="unsent-${name}" name="${name}" readonly>${text}</textarea>`,
    )}
  </section>`
}

/** A form that was not processed. */
export interface Unsent {
  /** Address of the page with the form. */
  readonly page: string
  readonly fields: readonly (readonly [name: string, text: string])[]
}

const BAR = 8
const HEIGHT = 26

/** A bar of a picture: its height as a part of the whole, undefined for none, and its colour. */
interface Bar {
  readonly part: number | undefined
  readonly tone: Tone
}

/** Draws a row of bars over a line in the width of `slots` bars. `text` is read in their place. */
export function barRow(text: string, slots: number, bars: readonly Bar[]): Html {
  return html`<svg
    class="trend"
    role="img"
    aria-label="${text}"
    viewBox="0 0 ${slots * BAR} ${HEIGHT}"
    preserveAspectRatio="none"
  >
    <title>${text}</title>
    <line x1="0" x2="${slots * BAR}" y1="${HEIGHT}" y2="${HEIGHT}"></line>
    ${bars.map(({ part, tone }, index) => {
      const height = part === undefined ? 0 : Math.max(2, part * HEIGHT)
      return html`<rect
        class="mark ${tone}"
        x="${index * BAR}"
        y="${HEIGHT - height}"
        width="${BAR - 2}"
        height="${height}"
      ></rect>`
    })}
  </svg>`
}
