import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** Severity of a word in a report. It is always shown as text and never by colour alone. */
export type Tone = 'good' | 'bad' | 'doubt' | 'soft'

const TONES: Readonly<Record<string, Tone>> = {
  Success: 'good',
  Pass: 'good',
  Fail: 'bad',
  High: 'bad',
  Low: 'bad',
  Error: 'bad',
  NodataFailMetric: 'bad',
  Review: 'doubt',
  Marginal: 'doubt',
  Inconclusive: 'doubt',
  Nodata: 'doubt',
}

/** Returns the tone of a verdict or classification. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? 'soft'
}

/** Renders a word as a badge. */
export function badge(word: string, tone: Tone): HtmlEscapedString | Promise<HtmlEscapedString> {
  return html`<span class="badge ${tone}">${word}</span>`
}
