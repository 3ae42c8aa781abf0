import type { LookReport, TargetReport } from '../../analysis/runs/look-report.js'
import type { JudgeReport } from '../../analysis/judge/types.js'
import type { LogReport } from '../../analysis/logs/types.js'
import { textTable } from '../output/text-table.js'

/** A look's report for a terminal: each metric with its verdict and reason, then what the log lost points for. */
export function reportText(report: LookReport): string {
  return report.targets.map((target) => targetText(target, report.targets.length > 1)).join('\n')
}

function targetText({ name, metrics, logs }: TargetReport, isOneOfSeveral: boolean): string {
  const title = isOneOfSeveral ? `${name}\n` : ''
  const parts = [metrics === undefined ? '' : metricTable(metrics)]
  if (logs !== undefined) parts.push(logText(logs))
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

function logText({ score, verdict, reason, findings }: LogReport): string {
  const head = `log: ${score} ${verdict}, ${reason}\n`
  const told = findings.filter(({ isUnexpected }) => isUnexpected)
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
