import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { ComparedSide, ComparedSides } from '../../analysis/runs/intervals/compared-sides.js'
import type { CheckReport } from '../../analysis/runs/checks/check.js'
import type { TargetReport } from '../../analysis/runs/intervals/interval-report.js'
import { warningsOf } from '../../analysis/runs/definitions/plan.js'
import type { IntervalSummary, ShownRun } from '../../analysis/runs/show-run.js'
import type { TriedJudgement } from '../../analysis/runs/intervals/try-queries.js'
import type { TargetData } from '../../analysis/runs/intervals/interval-data.js'
import { printable } from '../../lib/text/shown-text.js'
import { formatNumber } from './format-number.js'
import { logSection } from './log-section.js'
import { metricList } from './metric-list.js'
import { REPORT_STYLES } from './styles.js'
import { badge, toneOf } from './tone.js'
import type { Verdict } from '../../store/ports/analysis-store.js'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Renders a run as a standalone HTML page without scripts or external resources. */
export async function renderReport(run: ShownRun): Promise<string> {
  const { id, application } = run
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Analysis ${id} of ${application}: ${run.verdict ?? run.state.toLowerCase()}</title>
        <style>
          ${raw(REPORT_STYLES)}
        </style>
      </head>
      <body>
        ${reportBody(run)}
      </body>
    </html>`
  // Names and log lines are untrusted: remove characters that change the text direction.
  return printable((await page).toString())
}

/** Renders a run for a page of the console. */
export async function renderReportBody(run: ShownRun): Promise<string> {
  return printable((await reportBody(run)).toString())
}

function reportBody(run: ShownRun): Html {
  const { id, application, report, data, intervals } = run
  return html`<h1>Canary analysis ${id} of ${application}</h1>
    ${verdictBox(run)} ${removedNote(run)} ${errorList(run.errors)} ${warningList(run)}
    ${report === undefined ? '' : targetSections(report.targets, data?.targets)}
    ${intervals.length > 1 ? intervalTable(intervals) : ''} ${comparedTable(report?.compared ?? [])}
    <p class="soft">
      ${run.plan.judge} judge · success from ${run.plan.thresholds.pass}, review from
      ${run.plan.thresholds.marginal} · times in charts are UTC
    </p>`
}

/** Renders a judgement that is not stored, for a page of the console. */
export function trialBody({ report, data }: TriedJudgement): Html {
  const { verdict, score, unscored, reason, errors, targets, compared } = report
  const tone = toneOf(verdict)
  return html`<section class="verdict ${tone}" role="status">
      <span class="score">${unscored === undefined ? formatNumber(score) : '–'}</span>
      <div>
        ${badge(verdict, tone)}
        <p>${reason}</p>
        <p class="soft">${unscored === undefined ? '' : `no score: ${unscored} · `}not stored</p>
      </div>
    </section>
    ${errorList(errors)} ${targetSections(targets, data)} ${comparedTable(compared ?? [])}`
}

function removedNote({ dataRemovedAt }: ShownRun): Html {
  if (dataRemovedAt === undefined) return html``
  return html`<p>
    The data of this analysis was removed at ${toClock(dataRemovedAt)}, after its retention period.
  </p>`
}

function verdictBox({
  verdict,
  state,
  score,
  message,
  startedAt,
  finishedAt,
  nextIntervalAt,
  ...run
}: ShownRun): Html {
  const word = verdict ?? state.toLowerCase()
  const unscored = run.report?.unscored
  const tone = toneOf(verdict ?? '')
  const until =
    finishedAt === undefined ? `next interval ${toClock(nextIntervalAt)}` : `ended ${toClock(finishedAt)}`
  const about = [
    run.owner && `by ${run.owner}`,
    run.executionId && `execution ${run.executionId}`,
    `started ${toClock(startedAt)}`,
    until,
    `interval ${run.intervalsDone} of ${run.intervalCount}`,
    unscored && `no score: ${unscored}`,
  ]
  return html`<section class="verdict ${tone}">
    <span class="score">${score === undefined || unscored !== undefined ? '–' : formatNumber(score)}</span>
    <div>
      ${badge(word, tone)}
      ${state === 'RUNNING' && verdict !== undefined ? badge('still running', 'soft') : ''}
      <p>${message}</p>
      <p class="soft">${about.filter((part) => part !== undefined && part !== '').join(' · ')}</p>
    </div>
  </section>`
}

function errorList(errors: readonly string[]): Html {
  if (errors.length === 0) return html``
  return html`<section class="verdict doubt">
    <div>
      <strong>Some data is missing</strong>
      ${errors.map((error) => html`<p>${error}</p>`)}
    </div>
  </section>`
}

function warningList({ plan }: ShownRun): Html {
  const warnings = warningsOf(plan)
  if (warnings.length === 0) return html``
  return html`<section class="verdict doubt">
    <div>
      <strong>Some of the request is not judged</strong>
      ${warnings.map((warning) => html`<p>${warning}</p>`)}
    </div>
  </section>`
}

/** Renders which instances were compared, and over which time. */
function comparedTable(compared: readonly ComparedSides[]): Html {
  if (compared.length === 0) return html``
  const side = ({ scope, startMs, endMs }: ComparedSide): Html =>
    html`${Object.entries(scope).map(([name, value]) => html`<div><code>${name}=${value}</code></div>`)}
      <div class="soft">${clockOf(startMs)} to ${clockOf(endMs)}</div>`
  return html`<details>
    <summary>compared: ${compared.map(inShort).join('; ')}</summary>
    <div class="wide">
      <table>
        <tr>
          <th>of</th>
          <th>baseline</th>
          <th>canary</th>
        </tr>
        ${compared.map(
          ({ name, part, baseline, canary }) =>
            html`<tr>
              <td>${part} of ${name}</td>
              <td>${side(baseline)}</td>
              <td>${side(canary)}</td>
            </tr>`,
        )}
      </table>
    </div>
  </details>`
}

/** Summarizes the differences between both sides. */
function inShort({ name, part, baseline, canary }: ComparedSides): string {
  const differing = Object.keys({ ...baseline.scope, ...canary.scope }).filter(
    (variable) => baseline.scope[variable] !== canary.scope[variable],
  )
  const named = differing.map(
    (variable) => `${variable} ${baseline.scope[variable] ?? '–'} with ${canary.scope[variable] ?? '–'}`,
  )
  const since = baseline.startMs === canary.startMs ? '' : `, since ${clockOf(baseline.startMs)}`
  const times = `${clockOf(canary.startMs)} to ${clockOf(canary.endMs)}`
  return `${part} of ${name}: ${named.join(', ') || 'the same scope'}, ${times}${since && `, the baseline${since.slice(1)}`}`
}

function clockOf(ms: number): string {
  return toClock(new Date(ms).toISOString())
}

function intervalTable(intervals: readonly IntervalSummary[]): Html {
  return html`<h2>Intervals</h2>
    <div class="wide">
      <table class="stacked intervals">
        <tr>
          <th class="number">interval</th>
          <th>at</th>
          <th class="number">score</th>
          <th>verdict</th>
          <th>why</th>
        </tr>
        ${intervals.map(
          ({ interval, at, score, unscored, verdict, reason }) =>
            html`<tr>
              <td class="number" data-label="interval">${interval}</td>
              <td>${toClock(at)}</td>
              <td class="number" data-label="score">${unscored === undefined ? formatNumber(score) : '–'}</td>
              <td>${badge(verdict, toneOf(verdict))}</td>
              <td>${reason}</td>
            </tr>`,
        )}
      </table>
    </div>`
}

interface Section {
  readonly verdict: Verdict
  readonly content: Html
}

const RANK: Readonly<Record<Verdict, number>> = { Fail: 0, Review: 1, Success: 2 }

/** Returns the metrics and logs of all targets, worst first. */
function targetSections(
  targets: readonly TargetReport[],
  data: readonly TargetData[] | undefined,
): readonly Html[] {
  return targets
    .flatMap((target, index) => sectionsOf(target, data?.[index], targets.length > 1))
    .toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict])
    .map(({ content }) => content)
}

function sectionsOf(
  { name, metrics, logs, checks = [] }: TargetReport,
  data: TargetData | undefined,
  isOneOfSeveral: boolean,
): Section[] {
  const prefix = isOneOfSeveral ? `${name}: ` : ''
  const sections: Section[] = []
  if (metrics !== undefined) {
    const groups = metrics.groupScores.map(
      ({ name: group, score, classification }) =>
        `${group || 'all'} ${classification === '' ? formatNumber(score) : '–'}`,
    )
    const content = html`<h2>${prefix}Metrics: ${metrics.verdict}</h2>
      <p class="key soft">
        ${groups.join(' · ')} <i class="baseline"></i>baseline <i class="canary"></i>canary
      </p>
      ${metricList(metrics.results, data?.metrics)}`
    sections.push({ verdict: metrics.verdict, content })
  }
  if (logs !== undefined) {
    const content = html`<h2>${prefix}Log: ${logs.verdict}</h2>
      ${logSection(logs)}`
    sections.push({ verdict: logs.verdict, content })
  }
  const [worst] = checks.toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict])
  if (worst !== undefined) sections.push({ verdict: worst.verdict, content: checkTable(prefix, checks) })
  return sections
}

/** Renders the results of checks. */
function checkTable(prefix: string, checks: readonly CheckReport[]): Html {
  return html`<h2>${prefix}Checks</h2>
    <div class="wide">
      <table>
        <tr>
          <th>check</th>
          <th></th>
          <th>why</th>
        </tr>
        ${checks.map(
          ({ name, verdict, reason }) =>
            html`<tr>
              <td>${name}</td>
              <td>${badge(verdict, toneOf(verdict))}</td>
              <td>${reason}</td>
            </tr>`,
        )}
      </table>
    </div>`
}

function toClock(time: string | undefined): string {
  return time === undefined ? '' : time.replace('T', ' ').replace(/\.\d+Z$/, '')
}
