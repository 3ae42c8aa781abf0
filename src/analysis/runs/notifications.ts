import type { RunProgress, StoredRun } from '../../store/ports/analysis-store.js'
import type { OutboxMessage } from '../../store/ports/outbox-store.js'
import type { IntervalReport, TargetReport } from './intervals/interval-report.js'
import { runSummary } from './run-summary.js'

/**
 * The events of a run with messages: an interval failed, needs a review or had no answer, or the
 * run ended.
 */
export type NotifiedEvent = 'fail' | 'review' | 'noAnswer' | 'end'

/** A receiver and the runs it is notified about. */
export interface NotificationReceiver {
  readonly url: string
  readonly on: readonly NotifiedEvent[]
  /** Undefined for all. */
  readonly applications: readonly string[] | undefined
}

export interface NotificationSettings {
  readonly receivers: readonly NotificationReceiver[]
  /** The URL of the report of a run; undefined if the service does not know its own address. */
  readonly reportUrl: (run: StoredRun, nowMs: number) => string | undefined
}

/** An interval with the resulting state of its run. `run` is its former state. */
export interface JudgedInterval {
  readonly run: StoredRun
  readonly progress: RunProgress
  readonly report: IntervalReport
}

/** A message about a run, sent unless its subject was sent before. */
export type Notification = OutboxMessage & { readonly subject: string }

/**
 * The messages after an interval: at most one for each receiver, about the worst event that it
 * subscribes to.
 */
export function notificationsOf(
  { receivers, reportUrl }: NotificationSettings,
  judged: JudgedInterval,
): readonly Notification[] {
  const { run, progress, report } = judged
  const events = eventsOf(report, progress)
  return receivers.flatMap(({ url, on, applications }) => {
    const wanted = events.filter((event) => on.includes(event))
    if (wanted.length === 0 || applications?.includes(run.application) === false) return []
    const link = reportUrl(run, progress.updatedMs)
    return wanted.map((event) => messageOf({ url, event, link }, judged))
  })
}

/** The subject of the messages about an event of a run, by which the outbox finds them. */
function notificationSubject(runId: number, event: NotifiedEvent): string {
  return `analysis:${runId}:${event}`
}

/** A review for lack of data is sent only at the end, since every run starts with few points. */
function eventsOf(report: IntervalReport, { state }: RunProgress): readonly NotifiedEvent[] {
  const hasEnded = state === 'COMPLETED'
  const events: NotifiedEvent[] = []
  if (report.verdict === 'Fail') events.push(report.isUnanswered ? 'noAnswer' : 'fail')
  if (report.verdict === 'Review' && (hasEnded || report.targets.some(showsTrouble))) events.push('review')
  return hasEnded ? [...events, 'end'] : events
}

const SEEN_STATES: ReadonlySet<string | undefined> = new Set(['undecided', 'doubtful', 'oneSideEmpty'])

function showsTrouble({ metrics, logs, checks = [] }: TargetReport): boolean {
  const results = (metrics?.results ?? []).filter(({ muted }) => !muted)
  const isSeen = results.some(
    ({ classification, noData }) =>
      classification === 'High' || classification === 'Low' || SEEN_STATES.has(noData?.state),
  )
  const isLogged = logs?.findings.some(({ isUnexpected, asksForReview }) => isUnexpected || asksForReview)
  const isChecked = checks.some(({ verdict }) => verdict !== 'Success')
  return isSeen || isChecked || isLogged === true || (logs?.silence ?? null) !== null
}

interface Addressed {
  readonly url: string
  readonly event: NotifiedEvent
  readonly link: string | undefined
}

function messageOf({ url, event, link }: Addressed, { run, progress, report }: JudgedInterval): Notification {
  const { id, application, executionId, intervals } = run
  const { state, score, verdict, message: reason, intervalsDone, errors, updatedMs } = progress
  const summarised = { id, application, state, score, verdict, message: reason, intervalsDone, errors }
  const body = {
    type: `analysis.${event}`,
    timestamp: new Date(updatedMs).toISOString(),
    // The text that chats show for a webhook.
    text: runSummary({ ...summarised, intervalCount: intervals, report }, link),
    data: {
      ...{ analysis: id, application, executionId, state, verdict, score, reason, errors },
      ...{ interval: intervalsDone, intervals, reportUrl: link },
      chartUrl: link && `${link}/chart.png`,
    },
  }
  return {
    topic: 'analysis.notification',
    url,
    body: JSON.stringify(body),
    subject: notificationSubject(id, event),
    ...{ application, executionId, createdMs: updatedMs },
  }
}
