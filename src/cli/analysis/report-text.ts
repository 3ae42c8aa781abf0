import type { IntervalReport, TargetReport } from '../../analysis/runs/intervals/interval-report.js'
import type { LogReport } from '../../canary/index.js'
import type { Colours } from '../output/colours.js'
import { oneLine } from '../output/display-width.js'
import { textTable } from '../output/text-table.js'
import { wrapText } from '../output/wrap-text.js'
import { metricTable } from './metric-table.js'

/**
 * Returns the report of an interval as text: metrics with verdicts and reasons, then log findings.
 */
export function reportText(report: IntervalReport, colours: Colours): string {
  const isOneOfSeveral = report.targets.length > 1
  return report.targets.map((target) => targetText(target, isOneOfSeveral, colours)).join('\n')
}

function targetText(
  { name, metrics, logs, checks = [] }: TargetReport,
  isOneOfSeveral: boolean,
  colours: Colours,
): string {
  const title = isOneOfSeveral ? `${colours.strong(oneLine(name))}\n` : ''
  const parts = [metrics === undefined ? '' : metricTable(metrics.results, colours)]
  if (logs !== undefined) parts.push(logText(logs, colours))
  for (const check of checks)
    parts.push(wrapText(`check ${check.name}: ${check.verdict}. ${check.reason}`, ''))
  return title + parts.join('\n')
}

/** Returns the verdict on a log and the findings that cost points or need a review. */
export function logText({ score, verdict, reason, findings }: LogReport, colours: Colours): string {
  const paint = verdict === 'Success' ? colours.good : colours.bad
  const head = wrapText(
    `log: ${verdict} with ${Math.round(score * 100) / 100} of 100, ${reason}`,
    '',
  ).replace(verdict, paint)
  const told = findings.filter(({ isUnexpected, asksForReview }) => isUnexpected || asksForReview)
  if (told.length === 0) return head
  const rows = told.map(({ severity, change, baselineEvents, canaryEvents, lostPoints, template }) => [
    severity,
    change,
    String(baselineEvents),
    String(canaryEvents),
    lostPoints.toFixed(1),
    template,
  ])
  return `${head}\n${textTable([['severity', 'change', 'baseline', 'canary', 'lost', 'template'], ...rows], [2, 3, 4])}`
}
