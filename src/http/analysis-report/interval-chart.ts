import { scaleLinear } from 'd3-scale'
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { Finding } from '../../canary/index.js'
import { percent } from '../../lib/text/figures.js'

const WIDTH = 320
const HEIGHT = 68
const MARGIN = { right: 12, left: 12 }
const AXIS_Y = 30
/** Beyond what is drawn. */
const ROOM = 1.1
/** Half of the longest label: nearer to an edge it would leave the card. */
const LABEL_HALF = 34

/** The interval of the change, as a share of the baseline, against the margin within which a change does not matter. */
export function intervalChart({ relative, margin }: Finding): HtmlEscapedString | Promise<HtmlEscapedString> {
  if (relative === null) return html``
  const [low, high] = relative.interval
  const { estimate } = relative
  // A rise of a thousand per cent has no fall beside it that would need as much room.
  const [least, most] = [
    Math.min(low, estimate, -2 * margin) * ROOM,
    Math.max(high, estimate, 2 * margin) * ROOM,
  ]
  const x = scaleLinear([least, most], [MARGIN.left, WIDTH - MARGIN.right]).clamp(true)
  const at = (share: number): number => Math.round(x(share) * 10) / 10
  return html`<svg
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="interval of the change against the margin"
  >
    <rect class="margin" x="${at(-margin)}" y="8" width="${at(margin) - at(-margin)}" height="44">
      <title>margin: ${percent(-margin)} to ${percent(margin)}</title>
    </rect>
    <line class="axis" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${AXIS_Y}" y2="${AXIS_Y}" />
    <line class="zero" x1="${at(0)}" x2="${at(0)}" y1="8" y2="52" />
    <line class="interval" x1="${at(low)}" x2="${at(high)}" y1="${AXIS_Y}" y2="${AXIS_Y}">
      <title>${percent(low)} to ${percent(high)}</title>
    </line>
    <circle class="estimate" cx="${at(estimate)}" cy="${AXIS_Y}" r="5" />
    <text class="tick middle" x="${within(at(estimate))}" y="20">${percent(estimate)}</text>
    <text class="tick" x="${MARGIN.left}" y="62">${percent(least)}</text>
    <text class="tick end" x="${WIDTH - MARGIN.right}" y="62">${percent(most)}</text>
  </svg>`
}

function within(x: number): number {
  return Math.min(WIDTH - LABEL_HALF, Math.max(LABEL_HALF, x))
}
