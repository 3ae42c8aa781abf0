import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import { compareReports, isOther, isWorse } from '../../analysis/runs/compare-runs.js'
import type { ComparedPart, PartOutcome } from '../../analysis/runs/compare-runs.js'
import type { SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import type { ShownRun } from '../../analysis/runs/show-run.js'
import { percent } from '../../lib/text/number-text.js'
import { seriesChart } from './charts.js'
import { formatNumber } from './format-number.js'
import { mostUrgentFirst } from './metric-list.js'
import { badge, toneOf } from './tone.js'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Charts of a comparison. The table has all metrics. */
const MAX_CHARTS = 60

/** Renders the verdicts of two runs by metric, and the canaries of both in one chart for each. */
export function comparisonBody(first: ShownRun, second: ShownRun, prefix: string): Html {
  const rows = compareReports(first, second)
  const differing = rows.filter(isOther).length
  return html`<h1>Analyses ${first.id} and ${second.id} of ${second.application}</h1>
    ${
      first.application === second.application
        ? ''
        : html`<p class="verdict doubt">
            Analysis ${first.id} is of ${first.application}, another application.
          </p>`
    }
    <section class="verdict ${isWorse(first, second) ? 'bad' : 'good'}" role="status">
      <div>
        <strong>${sentence(first, second)}</strong>
        <p class="soft">${differing} of ${rows.length} metrics, log lines and checks have another result.</p>
      </div>
    </section>
    <div class="wide">
      <table class="stacked">
        <tr>
          <th>analysis</th>
          <th>verdict</th>
          <th class="number">score</th>
          <th>why</th>
        </tr>
        ${[first, second].map((run) => runRow(run, prefix))}
      </table>
    </div>
    <h2>Results</h2>
    <div class="wide">
      <table class="stacked pairs">
        <tr>
          <th>metric</th>
          <th>analysis ${first.id}</th>
          <th class="number">change</th>
          <th>analysis ${second.id}</th>
          <th class="number">change</th>
        </tr>
        ${rows.map((row) => partRow(row, first, second))}
      </table>
    </div>
    ${charts(rows, first, second)}`
}

function sentence(first: ShownRun, second: ShownRun): string {
  const [before, after] = [first, second].map(({ verdict, state }) => verdict ?? state.toLowerCase())
  if (before === after) return `Both: ${after ?? ''}`
  return `${after ?? ''} after ${before ?? ''}`
}

function runRow({ id, verdict, state, score, unscored, message, startedAt }: ShownRun, prefix: string): Html {
  const word = verdict ?? state.toLowerCase()
  return html`<tr>
    <td>
      <a href="${prefix}/ui/runs/${id}">${id}</a>
      <div class="soft">${startedAt.slice(0, 16).replace('T', ' ')} UTC</div>
    </td>
    <td>${badge(word, toneOf(word))}</td>
    <td class="number" data-label="score">
      ${score === undefined || unscored !== undefined ? '–' : formatNumber(score)}
    </td>
    <td data-label="why">${message}</td>
  </tr>`
}

function partRow({ target, name, ...results }: ComparedPart, first: ShownRun, second: ShownRun): Html {
  const cells = (outcome: PartOutcome | null, { id }: ShownRun): Html =>
    html`<td data-label="analysis ${id}">
        ${outcome === null ? '–' : badge(outcome.result, toneOf(outcome.result))}
      </td>
      <td class="number" data-label="change">${changeOf(outcome)}</td>`
  return html`<tr>
    <td>${target === '' ? '' : `${target}: `}${name}</td>
    ${cells(results.first, first)} ${cells(results.second, second)}
  </tr>`
}

function changeOf(outcome: PartOutcome | null): string {
  const change = outcome?.change ?? null
  return change === null || !Number.isFinite(change) ? '–' : percent(change)
}

/** The charted series of both runs by target and name. */
function charts(rows: readonly ComparedPart[], first: ShownRun, second: ShownRun): Html {
  const [before, after] = [seriesOf(first), seriesOf(second)]
  const charted = rows.flatMap(({ target, name }) => {
    const key = keyOf(target, name)
    const [one, other] = [before.get(key), after.get(key)]
    return one === undefined || other === undefined ? [] : [{ name, target, one, other }]
  })
  if (charted.length === 0) return html``
  return html`<h2>Canaries over time</h2>
    <p class="key soft">
      <i class="baseline"></i>analysis ${first.id} <i class="canary"></i>analysis ${second.id}, each since its
      own start; the clock is that of analysis ${second.id}, in UTC
    </p>
    <div class="panels charts-alone">
      ${charted.slice(0, MAX_CHARTS).map(
        ({ name, target, one, other }) =>
          html`<article class="card">
            <header><h3>${target === '' ? '' : `${target}: `}${name}</h3></header>
            ${seriesChart(one, other, [], `canaries of analyses ${first.id} and ${second.id} over time`)}
          </article>`,
      )}
    </div>
    ${charted.length > MAX_CHARTS ? html`<p class="soft">${charted.length - MAX_CHARTS} more are not drawn.</p>` : ''}`
}

function keyOf(target: string, name: string): string {
  return JSON.stringify([target, name])
}

function seriesOf({ report, data }: ShownRun): ReadonlyMap<string, SeriesData> {
  const targets = report?.targets ?? []
  return new Map(
    targets.flatMap(({ name: target, metrics }, index) =>
      mostUrgentFirst(metrics?.results ?? [], data?.targets[index]?.metrics).flatMap(
        ({ result: { name }, data: of }) =>
          of === undefined ? [] : [[keyOf(targets.length > 1 ? target : '', name), of.canary] as const],
      ),
    ),
  )
}
