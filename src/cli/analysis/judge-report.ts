import type { JudgeReport } from '../../canary/index.js'
import type { Colours } from '../output/colours.js'
import { count, textTable } from '../output/text-table.js'
import { wrapText } from '../output/wrap-text.js'
import { metricTable } from './metric-table.js'

/** The report for people: a line for each metric, why those that did not pass are so, the groups and the verdict. */
export function judgeReportText(report: JudgeReport, colours: Colours): string {
  const { score, groupScores, results, verdict } = report
  const groups = groupScores.map((group) => [
    group.name === '' ? '(no group)' : group.name,
    group.classification === 'Nodata' ? '-' : String(group.score),
  ])
  const paint = verdict === 'Success' ? colours.good : colours.bad
  const why = score.classificationReason === '' ? '' : `: ${score.classificationReason}`
  const end = `${score.classification} with ${score.score} of 100 over ${count(results.length, 'metric')}${why}`
  return [
    metricTable(results, colours),
    ...(groups.length === 0 ? [] : [`${colours.strong('GROUPS')}\n${textTable(groups, [1])}`]),
    wrapText(end, '').replace(score.classification, paint),
  ].join('\n')
}
