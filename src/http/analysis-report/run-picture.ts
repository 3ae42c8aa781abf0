import { scaleLinear, scaleUtc } from 'd3-scale'

import type { MetricResult } from '../../canary/index.js'
import type { MetricData } from '../../analysis/runs/intervals/interval-data.js'
import type { ShownRun } from '../../analysis/runs/show-run.js'
import { printable } from '../../lib/text/shown-text.js'
import { mostUrgentFirst } from './metric-list.js'
import { toneOf } from './tone.js'
import type { Tone } from './tone.js'
import { Canvas, textWidth, LETTER, encodePng } from './canvas.js'
import type { Colour } from './canvas.js'
import { chartLines, valueDomain } from './chart-points.js'
import type { Point } from './chart-points.js'
import { withPrefix } from '../../lib/text/number-text.js'

const [WIDTH, HEIGHT] = [900, 480]
const LEFT = 24
const [TITLE, TEXT] = [3, 2]
const LINE_HEIGHT = 22
const MAX_LINES = 4
const COLOURS = {
  ink: [26, 29, 33],
  soft: [92, 101, 112],
  line: [213, 218, 224],
  baseline: [76, 120, 168],
  canary: [209, 119, 26],
} as const satisfies Readonly<Record<string, Colour>>
const TONES: Readonly<Record<Tone, Colour>> = {
  good: [26, 127, 55],
  bad: [193, 36, 47],
  doubt: [154, 103, 0],
  soft: COLOURS.soft,
}

/**
 * Draws a run as a picture for chat: verdict, reason, and the chart of the most urgent metric.
 * Characters outside ASCII become question marks.
 */
export function drawRun(
  run: Pick<ShownRun, 'application' | 'id' | 'verdict' | 'state' | 'score' | 'message' | 'report' | 'data'>,
): Uint8Array {
  const { application, id, verdict, state, score, message } = run
  const canvas = new Canvas(WIDTH, HEIGHT)
  const word = verdict ?? state.toLowerCase()
  const colour = TONES[toneOf(verdict ?? '')]
  canvas.rectangle([0, 0], [8, HEIGHT], colour)
  const running = state === 'RUNNING' && verdict !== undefined ? ', still running' : ''
  canvas.text(printable(`${application}: ${word}`), [LEFT, 16], TITLE, colour)
  const unscored = run.report?.unscored
  const scored = unscored === undefined ? `${score} of 100` : `no score (${unscored})`
  const about = `analysis ${id}${score === undefined ? '' : `, ${scored}`}${running}`
  canvas.text(about, [LEFT, 46], TEXT, COLOURS.soft)
  const shown = firstMetric(run)
  const reasons = [
    message,
    ...(shown === undefined || message.includes(shown.result.classificationReason)
      ? []
      : [`${shown.result.name}: ${shown.result.classificationReason}`]),
  ]
  let top = 74
  for (const line of reasons.flatMap((reason) => wrapped(printable(reason)))) {
    canvas.text(line, [LEFT, top], TEXT, COLOURS.ink)
    top += LINE_HEIGHT
  }
  if (shown?.data === undefined) return encodePng(canvas)
  const key = top + 6
  canvas.text('baseline', [LEFT, key], TEXT, COLOURS.baseline)
  canvas.text('canary', [LEFT + textWidth('baseline  ', TEXT), key], TEXT, COLOURS.canary)
  drawChart(canvas, shown.data, key + LETTER.height * TEXT + 14)
  return encodePng(canvas)
}

interface ShownMetric {
  readonly result: MetricResult
  readonly data: MetricData | undefined
}

/** Returns the most urgent metric of the worst target. */
function firstMetric({ report, data }: Pick<ShownRun, 'report' | 'data'>): ShownMetric | undefined {
  const targets = (report?.targets ?? []).flatMap(({ metrics }, index) =>
    metrics === undefined ? [] : [{ metrics, data: data?.targets[index]?.metrics }],
  )
  const [worst] = targets.toSorted((a, b) => a.metrics.score.score - b.metrics.score.score)
  return worst && mostUrgentFirst(worst.metrics.results, worst.data)[0]
}

/** Wraps text to the picture's width and truncates it with an ellipsis. */
function wrapped(text: string): readonly string[] {
  const maxLength = Math.floor((WIDTH - 2 * LEFT) / (LETTER.advance * TEXT))
  const lines: string[] = ['']
  for (const word of text
    .split(/\s+/)
    .flatMap((each) => each.match(new RegExp(`.{1,${maxLength}}`, 'gu')) ?? [])) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= maxLength) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES - 1), `${(lines[MAX_LINES - 1] ?? '').slice(0, maxLength - 3)}...`]
}

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
function drawChart(canvas: Canvas, data: MetricData, top: number): void {
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
  const position = (point: Point): readonly [number, number] => [
    x(canary.startMs + point.ms),
    y(point.value ?? 0),
  ]
  for (const points of units[0]) drawSeries(canvas, points, position, paler(COLOURS.baseline), 1)
  for (const points of units[1]) drawSeries(canvas, points, position, paler(COLOURS.canary), 1)
  drawSeries(canvas, sides[0], position, COLOURS.baseline)
  drawSeries(canvas, sides[1], position, COLOURS.canary)
}

function paler([red, green, blue]: Colour): Colour {
  const [r, g, b] = [red, green, blue].map((part) => Math.round((part + WHITE) / 2))
  return [r ?? WHITE, g ?? WHITE, b ?? WHITE]
}

/** Draws lines between consecutive values, and a dot for an isolated value. */
function drawSeries(
  canvas: Canvas,
  points: readonly Point[],
  position: (point: Point) => readonly [number, number],
  colour: Colour,
  width = SERIES_WIDTH,
): void {
  points.forEach((point, index) => {
    if (point.value === null) return
    const next = points[index + 1]
    if (next !== undefined && next.value !== null) {
      canvas.line(position(point), position(next), width, colour)
    } else if ((points[index - 1]?.value ?? null) === null) {
      canvas.line(position(point), position(point), DOT, colour)
    }
  })
}
