import type { MetricResult } from '../../canary/index.js'
import { percent, probability } from '../../lib/text/number-text.js'
import type { Colours } from '../output/colours.js'
import { displayWidth, oneLine } from '../output/display-width.js'
import { textTable } from '../output/text-table.js'
import { TEXT_WIDTH, wrapText } from '../output/wrap-text.js'

const HEADINGS = ['METRIC', 'RESULT', 'SCORE', 'CHANGE', 'INTERVAL', 'P', 'POINTS']
const NUMERIC_HEADINGS: readonly string[] = ['SCORE', 'CHANGE', 'INTERVAL', 'P', 'POINTS']
const NONE = '-'
const INDENT = '  '

/**
 * Returns a table row for each metric, followed by the reasons if it did not pass. If the rows
 * would be too wide, names get their own lines.
 */
export function metricTable(results: readonly MetricResult[], colours: Colours): string {
  const table = filledColumns([HEADINGS, ...results.map(cellsOf)])
  const [heading = '', ...lines] = linesOf(table)
  if (Math.max(...[heading, ...lines].map(displayWidth)) <= TEXT_WIDTH) {
    const rows = results.map(
      (result, index) => `${coloured(lines[index] ?? '', result, colours)}\n${why(result, INDENT, colours)}`,
    )
    return `${colours.strong(heading)}\n${rows.join('')}`
  }
  return belowNames(table, results, colours)
}

function belowNames(
  table: readonly (readonly string[])[],
  results: readonly MetricResult[],
  colours: Colours,
): string {
  const [heading = '', ...lines] = linesOf(table.map((cells) => cells.slice(1)))
  const rows = results.map((result, index) => {
    const numbers = coloured(`${INDENT}${lines[index] ?? ''}`, result, colours)
    return `${oneLine(result.name)}\n${numbers}\n${why(result, INDENT + INDENT, colours)}`
  })
  return `${colours.strong(`${HEADINGS[0] ?? ''}\n${INDENT}${heading}`)}\n${rows.join('')}`
}

function linesOf(table: readonly (readonly string[])[]): string[] {
  const numeric = (table[0] ?? []).flatMap((heading, column) =>
    NUMERIC_HEADINGS.includes(heading) ? [column] : [],
  )
  return textTable(table, numeric).split('\n').slice(0, -1)
}

/** Drops columns without any value. */
function filledColumns(table: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const [, ...rows] = table
  return table.map((cells) => cells.filter((_, column) => rows.some((row) => row[column] !== NONE)))
}

function cellsOf(result: MetricResult): string[] {
  const { name, classification, critical, muted, score, finding, controlStats, experimentStats } = result
  const marks = [...(critical ? ['critical'] : []), ...(muted ? ['muted'] : [])]
  return [
    name,
    marks.length > 0 ? `${classification} (${marks.join(', ')})` : classification,
    score === null ? NONE : score.toFixed(0),
    changeOf(result),
    relativeOf(result)?.interval.map(percent).join(' … ') ?? NONE,
    finding === null ? NONE : probability(finding.p),
    `${experimentStats.count}/${controlStats.count}`,
  ]
}

/** Returns the estimated change of a test, or the difference of the means if there is none. */
function changeOf(result: MetricResult): string {
  const relative = relativeOf(result)
  if (relative !== null) return percent(relative.estimate)
  const { finding, ratio, exposure } = result
  return finding === null && ratio !== null && exposure === undefined ? percent(ratio - 1) : NONE
}

function relativeOf({ finding }: MetricResult): { estimate: number; interval: readonly number[] } | null {
  const relative = finding?.kind === 'zeroInflated' ? null : (finding?.relative ?? null)
  return relative?.interval.every(Number.isFinite) === true ? relative : null
}

function coloured(line: string, { classification }: MetricResult, colours: Colours): string {
  if (classification === 'Pass') return line
  return classification === 'Inconclusive' || classification === 'Nodata'
    ? colours.strong(line)
    : colours.bad(line)
}

function why(
  { classification, classificationReason, notes = [] }: MetricResult,
  indent: string,
  colours: Colours,
): string {
  const reasons = classification === 'Pass' ? [] : [classificationReason]
  return [...reasons, ...notes.map((note) => `note: ${note}`)]
    .map((text) => `${colours.faint(wrapText(text, indent).trimEnd())}\n`)
    .join('')
}
