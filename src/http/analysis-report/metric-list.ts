import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { MetricResult } from '../../canary/index.js'
import type { MetricData, SeriesData } from '../../analysis/runs/intervals/interval-data.js'
import { byUrgency } from '../../analysis/runs/by-urgency.js'
import { metricCard } from './metric-card.js'
import { toneOf } from './tone.js'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** This many metrics are looked through; of more, those that passed are folded away. */
const MOST_UNFOLDED = 30

/** The metrics of one judgement, what asks for attention first. */
export function metricList(
  results: readonly MetricResult[],
  data: readonly (MetricData | undefined)[] = [],
): Html {
  const cards = mostUrgentFirst(results, data).map((each) => ({
    card: metricCard(each.result, each.data),
    isPass: toneOf(each.result.classification) === 'good' && each.result.notes === undefined,
  }))
  const passed = cards.filter(({ isPass }) => isPass)
  if (cards.length <= MOST_UNFOLDED || passed.length === 0) return html`${cards.map(({ card }) => card)}`
  return html`${cards.filter(({ isPass }) => !isPass).map(({ card }) => card)}
    <details>
      <summary>${passed.length} metrics that passed</summary>
      ${passed.map(({ card }) => card)}
    </details>`
}

/** Those that ask for attention first, with what was fetched for them. */
export function mostUrgentFirst(
  results: readonly MetricResult[],
  data: readonly (MetricData | undefined)[] = [],
): readonly { readonly result: MetricResult; readonly data: MetricData | undefined }[] {
  return results
    .map((result, index) => ({ result, data: asRates(result, index, results, data) }))
    .toSorted((a, b) => byUrgency(a.result, b.result))
}

/** What is judged by what it is counted out of is drawn so, too: a canary with a tenth of the traffic has fewer events, however bad it is. */
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
  // A series with units is their mean, so that they belong on the same scale.
  return { ...events, values: rates(events.values), units: events.units?.map(rates) }
}
