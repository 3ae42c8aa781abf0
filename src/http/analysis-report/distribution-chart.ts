import { bin, extent, max, quantileSorted } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import { withPrefix } from '../../lib/text/figures.js'
import { formatNumber } from './format-number.js'
import { drawnValue, valueDomain } from './value-domain.js'

const WIDTH = 320
const HEIGHT = 150
const MARGIN = { top: 4, right: 20, bottom: 22, left: 20 }
const BINS = 24
const MIDDLE = HEIGHT / 2 - MARGIN.bottom / 2

/** How the values of each side are spread, the baseline upwards and the canary downwards, with their medians. */
export function distributionChart(
  baseline: SeriesData,
  canary: SeriesData,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  const sides = [numbersOf(baseline), numbersOf(canary)] as const
  const [low, high] = extent(sides.flat())
  if (low === undefined) return html``
  const domain = valueDomain(low, high, 0.02)
  const x = scaleLinear(domain, [MARGIN.left, WIDTH - MARGIN.right])
  const toBins = bin().domain(domain).thresholds(x.ticks(BINS))
  const shares = sides.map((values) =>
    toBins(values).map(({ x0 = 0, x1 = 0, length }) => ({
      x0,
      x1,
      share: length / Math.max(values.length, 1),
    })),
  )
  const height = scaleLinear([0, max(shares.flat(), ({ share }) => share) ?? 1], [0, MIDDLE - MARGIN.top])
  const bars = (side: 0 | 1): (HtmlEscapedString | Promise<HtmlEscapedString>)[] =>
    (shares[side] ?? []).map(({ x0, x1, share }) => {
      const tall = round(height(share))
      const top = side === 0 ? round(MIDDLE - tall) : MIDDLE
      const width = Math.max(round(x(x1) - x(x0) - 1), 0.5)
      return html`<rect
        class="bar ${side === 0 ? 'baseline' : 'canary'}"
        x="${round(x(x0))}"
        y="${top}"
        width="${width}"
        height="${tall}"
      />`
    })
  return html`<svg
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="distribution of the values, baseline above, canary below"
  >
    ${bars(0)} ${bars(1)} ${medianMark(sides[0], x, 'baseline', MARGIN.top, MIDDLE)}
    ${medianMark(sides[1], x, 'canary', MIDDLE, HEIGHT - MARGIN.bottom)}
    ${x
      .ticks(4)
      .map(
        (tick) =>
          html`<text class="tick middle" x="${round(x(tick))}" y="${HEIGHT - 6}">${withPrefix(tick)}</text>`,
      )}
  </svg>`
}

function medianMark(
  values: readonly number[],
  x: (value: number) => number,
  side: string,
  top: number,
  bottom: number,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  const median = quantileSorted(
    [...values].sort((a, b) => a - b),
    0.5,
  )
  if (median === undefined) return html``
  const at = round(x(median))
  return html`<line class="median ${side}" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"
    ><title>median ${formatNumber(median)}</title></line
  >`
}

function numbersOf({ values }: SeriesData): readonly number[] {
  return values.filter((value) => value !== null).map(drawnValue)
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
