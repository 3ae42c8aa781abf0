import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { MetricResult, Finding, SeriesStats } from '../../canary/index.js'
import type { MetricData, SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import { byUrgency } from '../../analysis/runs/by-urgency.js'
import { toneOf, badge } from './tone.js'
import { chance, percent, probability } from '../../lib/text/number-text.js'
import { distributionChart, intervalChart, seriesChart } from './charts.js'
import { formatNumber } from './format-number.js'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Above this number of metrics, those that passed are collapsed. */
const MAX_UNFOLDED = 30

/** Renders the metrics of one judgement, most urgent first. */
export function metricList(
  results: readonly MetricResult[],
  data: readonly (MetricData | undefined)[] = [],
): Html {
  const cards = mostUrgentFirst(results, data).map((each) => ({
    card: metricCard(each.result, each.data),
    isPass: toneOf(each.result.classification) === 'good' && each.result.notes === undefined,
  }))
  const passed = cards.filter(({ isPass }) => isPass)
  if (cards.length <= MAX_UNFOLDED || passed.length === 0) return html`${cards.map(({ card }) => card)}`
  return html`${cards.filter(({ isPass }) => !isPass).map(({ card }) => card)}
    <details>
      <summary>${passed.length} metrics that passed</summary>
      ${passed.map(({ card }) => card)}
    </details>`
}

/** Returns the metrics with their fetched data, most urgent first. */
export function mostUrgentFirst(
  results: readonly MetricResult[],
  data: readonly (MetricData | undefined)[] = [],
): readonly { readonly result: MetricResult; readonly data: MetricData | undefined }[] {
  return results
    .map((result, index) => ({ result, data: asRates(result, index, results, data) }))
    .toSorted((a, b) => byUrgency(a.result, b.result))
}

/**
 * Converts counts to rates for metrics that are judged by exposure. Otherwise a canary with a tenth
 * of the traffic would always show fewer events.
 */
function asRates(
  { exposure }: MetricResult,
  index: number,
  results: readonly MetricResult[],
  all: readonly (MetricData | undefined)[],
): MetricData | undefined {
  const data = all[index]
  if (exposure === undefined || data === undefined) return data
  const named = all[results.findIndex(({ name }) => name === exposure.metric)]
  const counted = data.exposure ?? named
  if (counted === undefined) return data
  return {
    ...data,
    baseline: rateOf(data.baseline, counted.baseline),
    canary: rateOf(data.canary, counted.canary),
  }
}

function rateOf(events: SeriesData, { values: exposure }: SeriesData): SeriesData {
  const rates = (values: SeriesData['values']): SeriesData['values'] =>
    values.map((value, place) => {
      const out = exposure[place] ?? 0
      return value === null || out <= 0 ? null : value / out
    })
  // A series with units is their mean, so units use the same scale.
  return { ...events, values: rates(events.values), units: events.units?.map(rates) }
}

/**
 * Renders one metric: verdict and reason, both series, their distribution, and the change against
 * the margin.
 */
function metricCard(result: MetricResult, data: MetricData | undefined): Html {
  const { name, groups, classification, classificationReason, score, muted, critical, notes = [] } = result
  return html`<article class="card">
    <header>
      <h3>${name}</h3>
      ${badge(classification, toneOf(classification))} ${critical ? badge('critical', 'bad') : ''}
      ${muted ? badge('not counted', 'soft') : ''}
      <span class="soft"
        >${groups.filter((group) => group !== '').join(', ')}${score === null ? '' : ` · score ${formatNumber(score)}`}</span
      >
    </header>
    <p>${classificationReason}</p>
    ${notes.map((note) => html`<p><strong>Note:</strong> ${note}</p>`)}
    ${data === undefined ? '' : charts(result, data)}
    ${result.exposure === undefined ? '' : html`<p class="soft">The charts show rates: events divided by exposure.</p>`}
    ${result.finding === null ? '' : findingLine(result.finding)}
    <details>
      <summary>statistics and queries</summary>
      ${statsTable(result)} ${data === undefined ? '' : queries(data)} ${testsTable(result.finding)}
    </details>
  </article>`
}

function charts({ finding }: MetricResult, { baseline, canary }: MetricData): Html {
  return html`<div class="charts">
    <div>${seriesChart(baseline, canary, stretchesOf(finding))}</div>
    <div>${distributionChart(baseline, canary)} ${finding === null ? '' : intervalChart(finding)}</div>
  </div>`
}

/** At most this chance of a stretch without a change, as of one that needs a review. */
const MAX_CHANCE = 0.01

function stretchesOf(finding: Finding | null): { readonly from: number; readonly to: number }[] {
  return (finding?.tests ?? [])
    .filter(({ matters, isWarmUp, pAlone = 1 }) => (matters || isWarmUp === true) && pAlone <= MAX_CHANCE)
    .flatMap(({ stretch }) => (stretch === undefined ? [] : [stretch]))
}

function findingLine({ relative, margin, pAdjusted, effectiveN, detectable, ...finding }: Finding): Html {
  const { distanceFrom, overlap } = finding
  const of = distanceFrom === undefined ? '' : `of the distance from ${formatNumber(distanceFrom)}: `
  const windows = overlap === undefined ? '' : `; each value covers ${overlap} points`
  const change =
    relative === null
      ? ''
      : `${of}change ${percent(relative.estimate)} (${percent(relative.interval[0])} to ${percent(relative.interval[1])}), `
  // An interval that contains larger changes contradicts it.
  const largest = relative === null ? 0 : Math.max(...relative.interval.map(Math.abs))
  const least =
    detectable === null || largest >= detectable
      ? ''
      : `. Smallest change detected with 80 % power: ${percent(detectable).replace('+', '')}`
  return html`<p class="soft">
    ${change}margin ${percent(margin).replace('+', '')}, ${chance(pAdjusted)} over all metrics. Effective
    samples: ${samples(effectiveN.control)} and ${samples(effectiveN.experiment)}${windows}${least}.
  </p>`
}

/** With the digits of the reason of a metric that has too few. */
function samples(effective: number): string {
  return effective < 10 ? effective.toFixed(1) : String(Math.round(effective))
}

function statsTable({ controlStats, experimentStats, ratio, exposure }: MetricResult): Html {
  const row = (side: string, { count, mean, std, min, max }: SeriesStats): Html =>
    html`<tr>
      <td>${side}</td>
      <td class="number">${formatNumber(count)}</td>
      ${[mean, std, min, max].map(
        // Without points there is no mean, rather than a mean of 0.
        (value) => html`<td class="number">${count === 0 ? '–' : formatNumber(value)}</td>`,
      )}
    </tr>`
  return html`<div class="wide">
    <table>
      <tr>
        <th>side</th>
        ${['points', 'mean', 'sd', 'min', 'max'].map((name) => html`<th class="number">${name}</th>`)}
      </tr>
      ${row('baseline', controlStats)} ${row('canary', experimentStats)}
    </table>
    ${ratio === null ? '' : html`<p class="soft">ratio of means ${formatNumber(ratio)}</p>`}
    ${exposure === undefined ? '' : exposureLine(exposure)}
  </div>`
}

function exposureLine({ metric, control, experiment }: NonNullable<MetricResult['exposure']>): Html {
  const by = metric === undefined ? '' : ` (${metric})`
  return html`<p class="soft">
    exposure: ${formatNumber(control)} in the baseline, ${formatNumber(experiment)} in the canary${by}
  </p>`
}

function testsTable(finding: Finding | null): Html {
  if (finding === null || finding.tests.length === 0) return html``
  return html`<div class="wide">
    <table>
      <tr>
        <th>test</th>
        <th>change</th>
        <th class="number">p</th>
        <th>direction</th>
      </tr>
      ${finding.tests.map(
        ({ test, change, p, says }) =>
          html`<tr>
            <td>${test}</td>
            <td>${change}</td>
            <td class="number">${probability(p)}</td>
            <td>${says}</td>
          </tr>`,
      )}
    </table>
  </div>`
}

function queries({ baseline, canary, exposure }: MetricData): Html {
  const query = (side: string, { query: text, state, reasons, warnings }: SeriesData): Html =>
    html`<p class="soft">${side}: ${state}${[...reasons, ...warnings].map((reason) => `, ${reason}`)}</p>
      <pre>${text}</pre>`
  const exposures =
    exposure === undefined
      ? ''
      : html`${query('baseline exposure', exposure.baseline)} ${query('canary exposure', exposure.canary)}`
  return html`${query('baseline', baseline)} ${query('canary', canary)} ${exposures}`
}
