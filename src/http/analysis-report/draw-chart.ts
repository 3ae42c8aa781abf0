import { scaleLinear, scaleUtc } from 'd3-scale'

import type { MetricData } from '../../analysis/runs/intervals/interval-data.js'
import { chartLines, valueDomain } from './chart-points.js'
import type { Point } from './chart-points.js'
import { withPrefix } from '../../lib/text/figures.js'
import { textWidth } from './picture/canvas.js'
import type { Canvas, Colour } from './picture/canvas.js'
import { LETTER } from './picture/letters.js'

export const COLOURS = {
  ink: [26, 29, 33],
  soft: [92, 101, 112],
  line: [213, 218, 224],
  baseline: [76, 120, 168],
  canary: [209, 119, 26],
} as const satisfies Readonly<Record<string, Colour>>

const TEXT = 2
const SERIES_WIDTH = 2.5
const WHITE = 255
const MARGIN = { left: 96, right: 24, bottom: 30 }
/** Free space next to labels, in pixels. */
const [EDGE, LABEL_GAP] = [4, 16]
/** Diameter of an isolated value, in pixels. */
const DOT = 7
const TICKS = { value: 4, time: 5 }

/**
 * Draws both series over time below `top`, with names and axes and a gap where there is no value.
 */
export function drawChart(canvas: Canvas, data: MetricData, top: number): void {
  const { canary } = data
  const { sides, units, range, durationMs } = chartLines(data)
  if (range === undefined) {
    canvas.text('No values to chart.', [MARGIN.left, top], TEXT, COLOURS.soft)
    return
  }
  const [right, bottom] = [canvas.width - MARGIN.right, canvas.height - MARGIN.bottom]
  const y = scaleLinear(valueDomain(...range, 0.05), [bottom, top])
  const x = scaleUtc([canary.startMs, canary.startMs + durationMs], [MARGIN.left, right])
  for (const tick of y.ticks(TICKS.value)) {
    const at = Math.round(y(tick))
    const label = withPrefix(tick).replace('µ', 'u')
    canvas.rectangle([MARGIN.left, at], [right - MARGIN.left, 1], COLOURS.line)
    canvas.text(label, [MARGIN.left - 8 - textWidth(label, TEXT), at - LETTER.height], TEXT, COLOURS.soft)
  }
  const clock = x.tickFormat(TICKS.time, '%H:%M')
  let free = 0
  for (const tick of x.ticks(TICKS.time)) {
    const label = clock(tick)
    const width = textWidth(label, TEXT)
    const left = Math.min(Math.round(x(tick) - width / 2), canvas.width - width - EDGE)
    if (left < free) continue
    canvas.text(label, [left, bottom + 8], TEXT, COLOURS.soft)
    free = left + width + LABEL_GAP
  }
  const place = (point: Point): readonly [number, number] => [
    x(canary.startMs + point.ms),
    y(point.value ?? 0),
  ]
  for (const points of units[0]) drawSeries(canvas, points, place, paler(COLOURS.baseline), 1)
  for (const points of units[1]) drawSeries(canvas, points, place, paler(COLOURS.canary), 1)
  drawSeries(canvas, sides[0], place, COLOURS.baseline)
  drawSeries(canvas, sides[1], place, COLOURS.canary)
}

function paler([red, green, blue]: Colour): Colour {
  const [r, g, b] = [red, green, blue].map((part) => Math.round((part + WHITE) / 2))
  return [r ?? WHITE, g ?? WHITE, b ?? WHITE]
}

/** Draws lines between consecutive values, and a dot for an isolated value. */
function drawSeries(
  canvas: Canvas,
  points: readonly Point[],
  place: (point: Point) => readonly [number, number],
  colour: Colour,
  width = SERIES_WIDTH,
): void {
  points.forEach((point, index) => {
    if (point.value === null) return
    const next = points[index + 1]
    if (next !== undefined && next.value !== null) {
      canvas.line(place(point), place(next), width, colour)
    } else if ((points[index - 1]?.value ?? null) === null) {
      canvas.line(place(point), place(point), DOT, colour)
    }
  })
}
