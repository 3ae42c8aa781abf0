import type { JudgeReport, MetricResult } from '../../analysis/judge/types.js'
import type { Colours } from '../output/colours.js'
import { count, textTable } from '../output/text-table.js'

const HEADINGS = ['METRIC', 'RESULT', 'SCORE', 'CHANGE', 'INTERVAL', 'P', 'POINTS']
const NUMERIC_COLUMNS = [2, 3, 4, 5, 6]

/** The report for people: a line for each metric, why those that did not pass are so, the groups and the verdict. */
export function judgeReportText(report: JudgeReport, colours: Colours): string {
  const { score, groupScores, results, verdict } = report
  const [heading = '', ...lines] = textTable([HEADINGS, ...results.map(row)], NUMERIC_COLUMNS).split('\n')
  const body = results.map(
    (result, index) => `${coloured(lines[index] ?? '', result, colours)}\n${reason(result, colours)}`,
  )
  const groups = groupScores.map((group) => [
    group.name === '' ? '(no group)' : group.name,
    group.classification === 'Nodata' ? '-' : String(group.score),
  ])
  const paint = verdict === 'Success' ? colours.good : colours.bad
  const why = score.classificationReason === '' ? '' : `: ${score.classificationReason}`
  return [
    `${colours.strong(heading)}\n${body.join('')}`,
    `${colours.strong('GROUPS')}\n${textTable(groups, [1])}`,
    `${paint(score.classification)} with ${score.score} of 100 over ${count(results.length, 'metric')}${why}\n`,
  ].join('\n')
}

function row({
  name,
  classification,
  critical,
  muted,
  score,
  finding,
  controlStats,
  experimentStats,
}: MetricResult): string[] {
  const marks = [...(critical ? ['critical'] : []), ...(muted ? ['muted'] : [])]
  const relative = finding?.kind === 'zeroInflated' ? null : (finding?.relative ?? null)
  return [
    name,
    marks.length > 0 ? `${classification} (${marks.join(', ')})` : classification,
    score === null ? '-' : score.toFixed(0),
    relative === null ? '-' : percent(relative.estimate),
    relative === null ? '-' : relative.interval.map(percent).join(' … '),
    finding === null ? '-' : finding.p.toPrecision(2),
    `${experimentStats.count}/${controlStats.count}`,
  ]
}

function coloured(line: string, { classification }: MetricResult, colours: Colours): string {
  if (classification === 'Pass') return line
  return classification === 'Inconclusive' || classification === 'Nodata'
    ? colours.strong(line)
    : colours.bad(line)
}

function reason({ classification, classificationReason }: MetricResult, colours: Colours): string {
  return classification === 'Pass' ? '' : `  ${colours.faint(classificationReason)}\n`
}

function percent(share: number): string {
  const digits = Math.abs(share) < 0.1 ? 1 : 0
  return `${share > 0 ? '+' : ''}${(share * 100).toFixed(digits)} %`
}
