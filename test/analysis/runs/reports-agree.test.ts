import { describe, expect, test } from 'vitest'

import type { MetricResult } from '../../../src/canary/judge/series/types.js'
import { judgeInterval } from '../../../src/analysis/runs/intervals/judge-interval.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'
import { runSummary } from '../../../src/analysis/runs/run-summary.js'
import type { ShownRun } from '../../../src/analysis/runs/show-run.js'
import { reportText } from '../../../src/cli/analysis/report-text.js'
import { makeColours } from '../../../src/cli/output/colours.js'
import { renderReport } from '../../../src/http/analysis-report/report-page.js'
import { drawRun } from '../../../src/http/analysis-report/run-picture.js'
import { variedRun } from '../../support/reports/varied-runs.js'

const RUNS = 40
const FIRST_SEED = 1
const MIN_SHARE = 1e-6

/** Words for invalid numbers and missing values. */
const NO_NUMBERS = /\bNaN\b|\bundefined\b|\bnull\b|Infinity|\[object|[^\w.]-0(?:\.0+)?(?= %)|\+-|--\d/

interface Told {
  readonly report: IntervalReport
  readonly run: ShownRun
  readonly page: string
  readonly markdown: string
  readonly terminal: string
}

async function told(seed: number): Promise<Told> {
  const { plan, data } = variedRun(seed)
  // As it is stored and read again.
  const report = JSON.parse(JSON.stringify(judgeInterval(plan, data).report)) as IntervalReport
  const { look, looks, score, verdict, reason, errors } = report
  const run = {
    ...{
      id: 17,
      application: 'shop',
      state: look === looks ? 'COMPLETED' : 'RUNNING',
      score,
      verdict,
      errors,
    },
    ...{ message: reason, intervalCount: looks, intervalsDone: look, startedAt: '2026-03-01T12:00:00.000Z' },
    ...{ plan, report, data: JSON.parse(JSON.stringify(data)) as unknown, intervals: [] },
  } as unknown as ShownRun
  expect(drawRun(run).length).toBeGreaterThan(1000)
  const page = await renderReport(run)
  return {
    ...{ report, run, page: textOf(page), markdown: runSummary(run, undefined) },
    terminal: reportText(report, makeColours(false)),
  }
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<style>[\S\s]*?<\/style>/g, '')
    .replaceAll(/<text[^>]*>([^<]*)<\/text>/g, ' $1 ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

/** Statements of a result that contradict its own numbers, one sentence each. */
function contradictions(result: MetricResult, { look, looks }: IntervalReport, isKayenta: boolean): string[] {
  const { classification, classificationReason: reason, finding, score, noData, critical, muted } = result
  const { name, experimentStats, controlStats } = result
  const isChange = classification === 'High' || classification === 'Low'
  const wrong: string[] = []
  const unless = (isRight: boolean, what: string): void => {
    if (!isRight) wrong.push(`${name}: ${what} [${classification}, score ${score}: ${reason}]`)
  }
  unless(reason !== '', 'gives no reason')
  unless(!isChange || !/^No change|same values/.test(reason), 'is changed and says that it is not')
  unless(
    classification !== 'Pass' || !/Not decided|cannot be|To be reviewed/.test(reason),
    'passes undecided',
  )
  unless(classification !== 'Pass' || !critical, 'passes and is critical')
  unless(look < looks || noData?.state !== 'undecided', 'is undecided at the last interval')
  if (isKayenta) return wrong
  unless(classification !== 'Pass' || score === 100, 'passes without the full score')
  unless(!isChange || score === null || score < 100, 'is changed with the full score')
  unless(!isChange || muted || noData !== null || score !== null, 'is changed without a score')
  unless(classification !== 'Error' || noData !== null, 'is an error of no kind')
  if (finding === null) return wrong
  const { relative, detectable, margin, p, pAdjusted } = finding
  unless(p >= 0 && p <= 1 && pAdjusted >= 0 && pAdjusted <= 1, 'has a p that is none')
  unless(experimentStats.count > 0 && controlStats.count > 0, 'is tested without points')
  unless(detectable === null || detectable >= margin - MIN_SHARE, 'would find less than its margin')
  if (relative === null) return wrong
  const {
    estimate,
    interval: [lower, upper],
  } = relative
  unless(
    lower <= estimate + MIN_SHARE && estimate <= upper + MIN_SHARE,
    'has an estimate outside of its interval',
  )
  if (isChange && /confidence interval [+-]?[\d.]+/.test(reason)) {
    unless(
      classification !== 'High' || upper > 0 || finding.distanceFrom !== undefined,
      'is High by an interval of falls',
    )
    unless(
      classification !== 'Low' || lower < 0 || finding.distanceFrom !== undefined,
      'is Low by an interval of rises',
    )
  }
  const isHarmless = reason.startsWith('Lower, and') || reason.startsWith('Higher, and')
  const isExcused = isHarmless || /expected by chance|for the worse|^Too little to be sure/.test(reason)
  if (classification === 'Pass' && !isExcused) {
    const near = Math.min(Math.abs(lower), Math.abs(upper))
    unless(
      Math.sign(lower) !== Math.sign(upper) || near <= Math.max(margin, 0.05) + MIN_SHARE,
      `passes though its whole interval lies beyond the margin ${margin}`,
    )
    const isSeen = reason.includes('Smallest change detected')
    unless(
      !isSeen || detectable === null || Math.abs(estimate) <= detectable + MIN_SHARE,
      'passes a change that it says it would find',
    )
  }
  return wrong
}

function overallContradictions({ report, run, page, markdown, terminal }: Told): string[] {
  const { score, unscored, verdict, reason, targets } = report
  const { pass, marginal } = run.plan.thresholds
  const wrong: string[] = []
  const unless = (isRight: boolean, what: string): void => {
    if (!isRight) wrong.push(`the run: ${what} [${verdict}, ${score}: ${reason}]`)
  }
  const expected =
    verdict === 'Success' ? score >= pass : score < (verdict === 'Review' ? pass : marginal) || score === 0
  unless(expected, `its score does not go with its verdict (${marginal}, ${pass})`)
  unless(
    verdict !== 'Success' ||
      !/Not decided|Not judged|Beyond doubt|[Nn]othing|No answer|is below/.test(reason),
    'succeeds in words of doubt',
  )
  unless(
    verdict === 'Success' || !reason.includes('No metric changed'),
    'does not succeed, and nothing changed',
  )
  const below = /(?<![\d.])([\d.]+) is below ([\d.]+)/.exec(reason)
  unless(below === null || Number(below[1]) < Number(below[2]), 'calls below what is not')
  for (const [where, text] of Object.entries({ page, markdown, terminal })) {
    const odd = NO_NUMBERS.exec(text)
    unless(
      odd === null,
      `the ${where} has ${JSON.stringify(text.slice(Math.max(0, (odd?.index ?? 0) - 60), (odd?.index ?? 0) + 30))}`,
    )
  }
  unless(page.includes(verdict) && page.includes(reason), 'the page has another verdict or reason')
  unless(
    unscored === undefined
      ? markdown.includes(`shop: ${verdict}** with ${score} of 100`)
      : markdown.includes(`shop: ${verdict}**`) && !markdown.includes('of 100'),
    'the summary has another verdict or score',
  )
  const results = targets.flatMap(({ metrics }) => metrics?.results ?? []).filter(({ muted }) => !muted)
  const troubled = results.filter(({ classification }) => classification !== 'Pass')
  for (const { name, classification } of results) {
    unless(page.includes(name) && terminal.includes(name), `${name} is missing`)
    unless(
      classification === 'Pass' || terminal.includes(classification),
      `${name} is not ${classification} in the terminal`,
    )
  }
  const bullet = /^- \*\*(.+?)\*\* /m.exec(markdown)?.[1]?.replaceAll('\\', '')
  const heading =
    troubled.length > 0 &&
    /(?:baseline canary )(\S.*?) (?:High|Low|Error|Nodata\w*|Inconclusive|Pass) /.exec(page)?.[1]
  const [first] = results.filter(({ name }) => name === heading)
  // The reason contains it in full.
  const isSaid = first !== undefined && reason.includes(first.classificationReason)
  unless(
    bullet === undefined || heading === false || heading === bullet || isSaid,
    `the summary begins with ${bullet}, the page with ${heading}`,
  )
  const named = results.filter(({ name }) => new RegExp(`(?:: |, )${name}(?:[,.]| is|$)`).test(reason))
  const isNamed =
    reason.includes('no metric had data') ||
    named.length === 0 ||
    named.some(({ classification, notes }) => classification !== 'Pass' || notes !== undefined)
  unless(isNamed, 'names metrics that all passed')
  return wrong
}

describe('what is told of a run agrees with its numbers, everywhere', () => {
  test.each(Array.from({ length: RUNS }, (_, place) => FIRST_SEED + place))('(seed %i)', async (seed) => {
    const all = await told(seed)
    const isKayenta = all.run.plan.judge === 'kayenta'
    const results = all.report.targets.flatMap(({ metrics }) => metrics?.results ?? [])
    expect([
      ...overallContradictions(all),
      ...results.flatMap((result) => contradictions(result, all.report, isKayenta)),
    ]).toEqual([])
  })
})
