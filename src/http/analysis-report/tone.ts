import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** How a word of a verdict is to be taken; it never speaks by its colour alone. */
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

/** The tone of a verdict or a classification. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? 'soft'
}

/** A word in a frame. */
export function badge(word: string, tone: Tone): HtmlEscapedString | Promise<HtmlEscapedString> {
  return html`<span class="badge ${tone}">${word}</span>`
}
