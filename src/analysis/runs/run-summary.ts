import type { MetricResult } from '../../canary/index.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'
import { byUrgency } from './by-urgency.js'
import type { IntervalReport, TargetReport } from './intervals/interval-report.js'

/** Chats show a few lines; the page has the rest. */
const MAX_NAMED = 5
const MARKS: Readonly<Record<string, string>> = { Success: '✅', Review: '⚠️', Fail: '❌' }

/** The part of a run that the summary needs. */
export interface SummarisedRun extends Pick<
  StoredRun,
  'id' | 'application' | 'verdict' | 'state' | 'score' | 'message' | 'intervalsDone' | 'errors'
> {
  readonly intervalCount: number
  readonly report: Pick<IntervalReport, 'targets' | 'unscored'> | undefined
}

/**
 * A run in a few lines of Markdown for a chat: verdict and reason, problems first, and the link to
 * the page if known.
 */
export function runSummary(run: SummarisedRun, pageUrl: string | undefined): string {
  const { id, application, verdict, state, score, message, report } = run
  const word = verdict ?? state.toLowerCase()
  const isScored = score !== undefined && report?.unscored === undefined
  const withScore = isScored ? ` with ${score} of 100` : ''
  const head = `${MARKS[word] ?? '⏳'} **${plain(application)}: ${word}**${withScore}`
  const troubles = (report?.targets ?? []).flatMap(troublesOf)
  const [first] = troubles
  // A finding that the reason contains is not repeated.
  const isSaid = first !== undefined && message.includes(first.name) && message.includes(first.reason)
  const lines = troubles.slice(isSaid ? 1 : 0).map(({ line }) => line)
  const omitted = lines.length - MAX_NAMED
  return [
    `${head} (analysis ${id}, interval ${run.intervalsDone} of ${run.intervalCount}${state === 'RUNNING' ? ', still running' : ''})`,
    '',
    ...(message === '' ? [] : [plain(message), '']),
    ...lines.slice(0, MAX_NAMED).map((line) => `- ${line}`),
    ...(omitted > 0 ? [`- and ${omitted} more`] : []),
    ...run.errors.slice(0, 1).map((error) => `- some data is missing: ${plain(error)}`),
    '',
    ...(pageUrl === undefined ? [] : [`[the whole report](${pageUrl})`]),
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .concat('\n')
}

interface Trouble {
  readonly name: string
  readonly line: string
  readonly reason: string
}

function troublesOf({ metrics, logs, checks = [] }: TargetReport): Trouble[] {
  const changed = (metrics?.results ?? [])
    .filter(({ classification, muted }) => classification !== 'Pass' && !muted)
    .toSorted(byUrgency)
  const findings = (logs?.findings ?? []).filter(
    ({ isUnexpected, asksForReview }) => isUnexpected || asksForReview,
  )
  const trouble = (name: string, what: string, reason: string): Trouble => ({
    ...{ name, reason },
    line: `${what}${plain(reason)}`,
  })
  return [
    ...checks
      .filter(({ verdict }) => verdict !== 'Success')
      .map(({ name, verdict, reason }) => trouble(name, `check **${plain(name)}** ${verdict}: `, reason)),
    ...changed.map((result) =>
      trouble(result.name, `**${plain(result.name)}** ${labelOf(result)}: `, result.classificationReason),
    ),
    ...findings.map(({ severity, template, reason }) =>
      trouble(template, `log, ${severity}: \`${template.replaceAll('`', "'")}\`, `, reason),
    ),
  ]
}

function labelOf({ classification, critical }: MetricResult): string {
  return critical ? `${classification}, critical` : classification
}

/** Escapes names and messages, so that they neither format text nor mention anybody. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_[\]<>~|#]/g, String.raw`\$&`)
    .replaceAll('@', '@\u200B')
}
