import { scaleLinear, scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { bin, extent, max, quantileSorted } from 'd3-array'

import type { SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import { chartLines, valueDomain, drawnValue } from './chart-points.js'
import type { Point } from './chart-points.js'
import { withPrefix, percent } from '../../lib/text/number-text.js'
import type { Finding } from '../../canary/index.js'
import { formatNumber } from './format-number.js'

const WIDTH = 640
const HEIGHT = 180
const MARGIN = { top: 14, right: 30, bottom: 26, left: 64 }
const MS_PER_DAY = 86_400_000
const MS_PER_MINUTE = 60_000

/**
 * Renders both series of a metric over the time since each side started, with a gap where there is
 * no value. `stretches` of the canary's points are shaded.
 */
export function seriesChart(
  baseline: SeriesData,
  canary: SeriesData,
  stretches: readonly { readonly from: number; readonly to: number }[] = [],
  description = 'baseline and canary over time',
): HtmlEscapedString | Promise<HtmlEscapedString> {
  const { sides, units, range, durationMs } = chartLines({ baseline, canary })
  if (range === undefined) return html`<p class="none">No values to chart.</p>`
  const y = scaleLinear(valueDomain(...range, 0.05), [HEIGHT - MARGIN.bottom, MARGIN.top])
  // The axis shows the canary's times. The baseline is aligned by its own start.
  const x = scaleUtc([canary.startMs, canary.startMs + durationMs], [MARGIN.left, WIDTH - MARGIN.right])
  const drawn = line<Point>()
    .defined(({ value }) => value !== null)
    .x(({ ms }) => round(x(canary.startMs + ms)))
    .y(({ value }) => round(y(value ?? 0)))
  const times = x.ticks(5)
  const isFine = times.some((time) => time.getTime() % MS_PER_MINUTE !== 0)
  const label = x.tickFormat(5, durationMs > MS_PER_DAY ? '%m-%d %H:%M' : isFine ? '%H:%M:%S' : '%H:%M')
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
    ${shades(stretches, (point) => x(canary.startMs + Math.min(point * canary.stepMs, durationMs)))}
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
    ${dots(sides, (ms) => x(canary.startMs + ms), y)}
  </svg>`
}

/** Shades the stretches that differ. `x` is the position of a point. */
function shades(
  stretches: readonly { readonly from: number; readonly to: number }[],
  x: (point: number) => number,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  return html`${stretches.map(
    ({ from, to }) =>
      html`<rect
        class="margin"
        x="${round(x(from))}"
        y="${MARGIN.top}"
        width="${round(x(to) - x(from))}"
        height="${HEIGHT - MARGIN.bottom - MARGIN.top}"
      >
        <title>stretch that differs</title>
      </rect>`,
  )}`
}

/** A dot for each value between gaps, which no line shows. */
function dots(
  sides: readonly (readonly Point[])[],
  x: (ms: number) => number,
  y: (value: number) => number,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  return html`${sides.map((points, side) =>
    isolated(points).map(
      ({ ms, value }) =>
        html`<circle
          class="alone ${side === 0 ? 'baseline' : 'canary'}"
          cx="${round(x(ms))}"
          cy="${round(y(value ?? 0))}"
          r="2"
        />`,
    ),
  )}`
}

function isolated(points: readonly Point[]): readonly Point[] {
  const isGap = (index: number): boolean => (points[index]?.value ?? null) === null
  return points.filter((_, index) => !isGap(index) && isGap(index - 1) && isGap(index + 1))
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

const NARROW_WIDTH = 320
const INTERVAL_HEIGHT = 68
const INTERVAL_MARGIN = { right: 12, left: 12 }
const AXIS_Y = 30
/** Padding of the axis, as a factor. */
const PADDING = 1.1
/** Half the width of the longest label, which keeps labels inside the card. */
const LABEL_HALF = 34

/**
 * Renders the confidence interval of the change, as a share of the baseline, with the tolerated
 * margin.
 */
export function intervalChart({ relative, margin }: Finding): HtmlEscapedString | Promise<HtmlEscapedString> {
  if (relative === null) return html``
  const [low, high] = relative.interval
  const { estimate } = relative
  // The two ends are padded independently: a rise of 1000 % has no matching fall.
  const [least, most] = [
    Math.min(low, estimate, -2 * margin) * PADDING,
    Math.max(high, estimate, 2 * margin) * PADDING,
  ]
  const x = scaleLinear([least, most], [INTERVAL_MARGIN.left, NARROW_WIDTH - INTERVAL_MARGIN.right]).clamp(
    true,
  )
  const at = (share: number): number => Math.round(x(share) * 10) / 10
  return html`<svg
    viewBox="0 0 ${NARROW_WIDTH} ${INTERVAL_HEIGHT}"
    role="img"
    aria-label="interval of the change against the margin"
  >
    <rect class="margin" x="${at(-margin)}" y="8" width="${at(margin) - at(-margin)}" height="44">
      <title>margin: ${percent(-margin)} to ${percent(margin)}</title>
    </rect>
    <line
      class="axis"
      x1="${INTERVAL_MARGIN.left}"
      x2="${NARROW_WIDTH - INTERVAL_MARGIN.right}"
      y1="${AXIS_Y}"
      y2="${AXIS_Y}"
    />
    <line class="zero" x1="${at(0)}" x2="${at(0)}" y1="8" y2="52" />
    <line class="interval" x1="${at(low)}" x2="${at(high)}" y1="${AXIS_Y}" y2="${AXIS_Y}">
      <title>${percent(low)} to ${percent(high)}</title>
    </line>
    <circle class="estimate" cx="${at(estimate)}" cy="${AXIS_Y}" r="5" />
    <text class="tick middle" x="${within(at(estimate))}" y="20">${percent(estimate)}</text>
    <text class="tick" x="${INTERVAL_MARGIN.left}" y="62">${percent(least)}</text>
    <text class="tick end" x="${NARROW_WIDTH - INTERVAL_MARGIN.right}" y="62">${percent(most)}</text>
  </svg>`
}

function within(x: number): number {
  return Math.min(NARROW_WIDTH - LABEL_HALF, Math.max(LABEL_HALF, x))
}

const DISTRIBUTION_HEIGHT = 150
const DISTRIBUTION_MARGIN = { top: 4, right: 20, bottom: 22, left: 20 }
const BINS = 24
const MIDDLE = DISTRIBUTION_HEIGHT / 2 - DISTRIBUTION_MARGIN.bottom / 2

/**
 * Renders the distribution of values with medians, the baseline upwards and the canary downwards.
 */
export function distributionChart(
  baseline: SeriesData,
  canary: SeriesData,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  const sides = [numbersOf(baseline), numbersOf(canary)] as const
  const [low, high] = extent(sides.flat())
  if (low === undefined) return html``
  const domain = valueDomain(low, high, 0.02)
  const x = scaleLinear(domain, [DISTRIBUTION_MARGIN.left, NARROW_WIDTH - DISTRIBUTION_MARGIN.right])
  const toBins = bin().domain(domain).thresholds(x.ticks(BINS))
  const shares = sides.map((values) =>
    toBins(values).map(({ x0 = 0, x1 = 0, length }) => ({
      x0,
      x1,
      share: length / Math.max(values.length, 1),
    })),
  )
  const height = scaleLinear(
    [0, max(shares.flat(), ({ share }) => share) ?? 1],
    [0, MIDDLE - DISTRIBUTION_MARGIN.top],
  )
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
    viewBox="0 0 ${NARROW_WIDTH} ${DISTRIBUTION_HEIGHT}"
    role="img"
    aria-label="distribution of the values, baseline above, canary below"
  >
    ${bars(0)} ${bars(1)} ${medianMark(sides[0], x, 'baseline', DISTRIBUTION_MARGIN.top, MIDDLE)}
    ${medianMark(sides[1], x, 'canary', MIDDLE, DISTRIBUTION_HEIGHT - DISTRIBUTION_MARGIN.bottom)}
    ${x
      .ticks(4)
      .map(
        (tick) =>
          html`<text class="tick middle" x="${round(x(tick))}" y="${DISTRIBUTION_HEIGHT - 6}"
            >${withPrefix(tick)}</text
          >`,
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
