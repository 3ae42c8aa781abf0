import type { LookReport, TargetReport } from '../../analysis/runs/look-report.js'
import type { JudgeReport } from '../../analysis/judge/types.js'
import { textTable } from '../output/text-table.js'

/** A look's report for a terminal: each metric with its verdict and reason, then what the log lost points for. */
export function reportText(report: LookReport): string {
  return report.targets.map((target) => targetText(target, report.targets.length > 1)).join('\n')
}

function targetText({ name, metrics, logs }: TargetReport, isOneOfSeveral: boolean): string {
  const title = isOneOfSeveral ? `${name}\n` : ''
  const parts = [metrics === undefined ? '' : metricTable(metrics)]
  if (logs !== undefined) parts.push(`log: ${logs.score} ${logs.verdict}, ${logs.reason}\n`)
  return title + parts.join('\n')
}

function metricTable({ results }: JudgeReport): string {
  const rows = results.map(({ name, classification, score, critical, classificationReason }) => [
    name,
    critical ? `${classification} (critical)` : classification,
    score === null ? '-' : String(score),
    classificationReason,
  ])
  return textTable([['metric', 'verdict', 'score', 'why'], ...rows], [2])
}
