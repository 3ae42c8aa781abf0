import { scaleLinear, scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import { chartLines } from './chart-points.js'
import type { Point } from './chart-points.js'
import { withPrefix } from '../../lib/text/figures.js'
import { valueDomain } from './value-domain.js'

const WIDTH = 640
const HEIGHT = 180
const MARGIN = { top: 14, right: 30, bottom: 26, left: 64 }
const MS_PER_DAY = 86_400_000
const MS_PER_MINUTE = 60_000

/** Both series of a metric over the time since each side's start, a gap where there is no value. */
export function seriesChart(
  baseline: SeriesData,
  canary: SeriesData,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  const { sides, units, range, durationMs } = chartLines({ baseline, canary })
  if (range === undefined) return html`<p class="none">There is no value to draw.</p>`
  const y = scaleLinear(valueDomain(...range, 0.05), [HEIGHT - MARGIN.bottom, MARGIN.top])
  // Times are shown as they were at the canary; the baseline is laid over it from its own start.
  const x = scaleUtc([canary.startMs, canary.startMs + durationMs], [MARGIN.left, WIDTH - MARGIN.right])
  const drawn = line<Point>()
    .defined(({ value }) => value !== null)
    .x(({ ms }) => round(x(canary.startMs + ms)))
    .y(({ value }) => round(y(value ?? 0)))
  const times = x.ticks(5)
  const isFine = times.some((time) => time.getTime() % MS_PER_MINUTE !== 0)
  const label = x.tickFormat(5, durationMs > MS_PER_DAY ? '%m-%d %H:%M' : isFine ? '%H:%M:%S' : '%H:%M')
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="baseline and canary over time">
    ${y
      .ticks(4)
      .map(
        (tick) =>
          html`<line
              class="grid"
              x1="${MARGIN.left}"
              x2="${WIDTH - MARGIN.right}"
              y1="${round(y(tick))}"
              y2="${round(y(tick))}"
            />
            <text class="tick end" x="${MARGIN.left - 6}" y="${round(y(tick)) + 4}"
              >${withPrefix(tick)}</text
            >`,
      )}
    ${times.map(
      (tick) => html`<text class="tick middle" x="${round(x(tick))}" y="${HEIGHT - 6}">${label(tick)}</text>`,
    )}
    ${units.map((lines, side) =>
      lines.map(
        (points) =>
          html`<path class="series unit ${side === 0 ? 'baseline' : 'canary'}" d="${drawn(points) ?? ''}" />`,
      ),
    )}
    <path class="series baseline" d="${drawn(sides[0]) ?? ''}" />
    <path class="series canary" d="${drawn(sides[1]) ?? ''}" />
  </svg>`
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
