import type { MetricResult } from '../../canary/index.js'
import type { MetricData } from '../../analysis/runs/intervals/interval-data.js'
import type { ShownRun } from '../../analysis/runs/show-run.js'
import { printable } from '../../lib/text/shown-text.js'
import { mostUrgentFirst } from './metric-list.js'
import { toneOf } from './tone.js'
import type { Tone } from './tone.js'
import { Canvas, textWidth } from './picture/canvas.js'
import type { Colour } from './picture/canvas.js'
import { COLOURS, drawChart } from './draw-chart.js'
import { encodePng } from './picture/encode-png.js'
import { LETTER } from './picture/letters.js'

const [WIDTH, HEIGHT] = [900, 480]
const LEFT = 24
const [TITLE, TEXT] = [3, 2]
const LINE_HEIGHT = 22
const MOST_LINES = 4
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
  const about = `analysis ${id}${score === undefined ? '' : `, ${score} of 100`}${running}`
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
  const targets = (report?.targets ?? []).flatMap(({ metrics }, place) =>
    metrics === undefined ? [] : [{ metrics, data: data?.targets[place]?.metrics }],
  )
  const [worst] = targets.toSorted((a, b) => a.metrics.score.score - b.metrics.score.score)
  return worst && mostUrgentFirst(worst.metrics.results, worst.data)[0]
}

/** Wraps text to the picture's width and truncates it with an ellipsis. */
function wrapped(text: string): readonly string[] {
  const most = Math.floor((WIDTH - 2 * LEFT) / (LETTER.advance * TEXT))
  const lines: string[] = ['']
  for (const word of text
    .split(/\s+/)
    .flatMap((each) => each.match(new RegExp(`.{1,${most}}`, 'gu')) ?? [])) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES - 1), `${(lines[MOST_LINES - 1] ?? '').slice(0, most - 3)}...`]
}
