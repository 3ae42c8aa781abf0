import { readMetricSpecs } from '../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../src/canary/judge/judge-run.js'
import type { JudgeOptions, MetricResult, MetricSpec, Side } from '../../src/canary/judge/series/types.js'
import { readFlags, runParts, table } from '../lib/report.js'
import { makeRandom, ROWS, WORSE_BURSTS } from './generate-pairs.js'
import { POD_ROWS } from './generate-pods.js'
import { INTERVAL_COLUMNS, measureIntervals } from './intervals.js'
import { RUN_ROWS } from './generate-runs.js'
import { simulateCoverage, simulateRuns } from './simulate-runs.js'
import type { Pair, Row } from './generate-pairs.js'
import { compareSeries, SERIES_COLUMNS } from './series/compare.js'

/**
 * `make bench-judge`: false alarms, detection and speed of the canary judge on simulated canaries,
 * and the duration of whole intervals.
 */

const flags = readFlags({
  only: ['', 'some of pairs,runs,series,coverage,speed,intervals; all by default'],
  pairs: ['200', 'simulated pairs per line; 2000 for published results'],
  pick: ['', 'only lines whose name contains this text'],
  kayenta: ['yes', 'whether to run its judge too'],
  seed: ['20261121', 'of the random numbers'],
  series: ['', 'folder of CSV files (time,value) with recorded series, or heldout for other made-up ones'],
  lines: ['1000000', 'log lines on each side in the largest interval'],
})
const SPEED_METRICS = 200
const SPEED_POINTS = 1440
const SPEED_ROUNDS = 5
/** Tolerance when a share is compared with its limit: half of the last printed digit. */
const ROUNDING = 0.05
const COVERAGE = { least: 88, most: 92 }
/**
 * A thousand pairs determine a share near 90 % to within 1.5 percentage points only, so more are
 * drawn.
 */
const COVERAGE_PAIRS = 5
const THRESHOLDS = { pass: 95, marginal: 75 }

/** Verdicts of a judge for a line's pairs, in per cent. */
interface Shares {
  readonly changed: number
  readonly inconclusive: number
}

function pairs(): Promise<void> {
  const row = table(
    `${flags.pairs} pairs per line, seed ${flags.seed}`,
    'pairs | detected % | by Kayenta % | inconclusive % | limit',
  )
  for (const each of [...ROWS, ...POD_ROWS, ...WORSE_BURSTS].filter(({ name }) =>
    name.includes(flags.pick),
  )) {
    const { changed, inconclusive } = judgePairs(each, 'default')
    const { wanted, limit, told = 0, inconclusive: most = Infinity } = each
    const isFound = wanted === 'found' ? changed >= limit - ROUNDING : changed <= limit
    const isMet = isFound && inconclusive <= most + ROUNDING && changed + inconclusive >= told - ROUNDING
    const ofInconclusive = most === Infinity ? '' : `, inconclusive <= ${most}`
    const shown =
      told > 0 ? `both >= ${told}` : `${wanted === 'found' ? '>=' : '<='} ${limit}${ofInconclusive}`
    row(
      each.name,
      changed,
      kayenta(() => judgePairs(each, 'kayenta').changed),
      inconclusive,
      shown + missed(!isMet),
    )
  }
  return Promise.resolve()
}

function runs(): Promise<void> {
  const row = table('Whole runs', 'runs | share | % | by Kayenta % | limit')
  const [count, seed] = [Number(flags.pairs), Number(flags.seed)]
  for (const each of RUN_ROWS.filter(({ name }) => name.includes(flags.pick))) {
    const value = simulateRuns(each, count, seed)
    const ofKayenta = kayenta(() => simulateRuns(each, count, seed, 'kayenta'))
    row(each.name, each.share, value, ofKayenta, `<= ${each.limit}${missed(value > each.limit + ROUNDING)}`)
  }
  return Promise.resolve()
}

/** Coverage of confidence intervals. */
function coverage(): Promise<void> {
  const row = table(
    'Coverage of 90 % confidence intervals for a change of events',
    'events per minute | coverage % | limit',
  )
  const [count, seed] = [COVERAGE_PAIRS * Number(flags.pairs), Number(flags.seed)]
  for (const perMinute of [0.5, 1, 5, 20]) {
    for (const factor of [1, 2, 5]) {
      const held = simulateCoverage({ perMinute, factor }, count, seed)
      const isMissed = held < COVERAGE.least - ROUNDING || held > COVERAGE.most + ROUNDING
      row(
        `${perMinute} -> ${perMinute * factor}`,
        held,
        `${COVERAGE.least} to ${COVERAGE.most}${missed(isMissed)}`,
      )
    }
  }
  return Promise.resolve()
}

function kayenta(share: () => number): number | undefined {
  return flags.kayenta === 'yes' ? share() : undefined
}

function missed(isMissed: boolean): string {
  if (isMissed) process.exitCode = 1
  return isMissed ? ' MISSED' : ''
}

/** Each pair is a separate run, like a canary with one metric. */
function judgePairs({ make }: Row, judge: JudgeOptions['judge']): Shares {
  const random = makeRandom(Number(flags.seed))
  const pairs = Number(flags.pairs)
  let [changed, inconclusive] = [0, 0]
  for (let count = 0; count < pairs; count += 1) {
    const { classification } = judgePair(make(random), judge)
    if (classification === 'High' || classification === 'Low') changed += 1
    if (classification === 'Inconclusive') inconclusive += 1
  }
  return { changed: (100 * changed) / pairs, inconclusive: (100 * inconclusive) / pairs }
}

function judgePair(pair: Pair, judge: JudgeOptions['judge']): Pick<MetricResult, 'classification'> {
  const side = (name: 'control' | 'experiment'): Side => ({
    values: pair[name],
    units: pair.units?.[name],
    exposure: pair.exposure?.[name],
  })
  const metric = {
    ...{ spec: specOf('metric'), control: side('control'), experiment: side('experiment') },
    usualSpread: pair.usualSpread,
  }
  const { results } = judgeMetrics({ metrics: [metric], groupWeights: {}, thresholds: THRESHOLDS }, { judge })
  return results[0] ?? { classification: 'Error' }
}

function speed(): Promise<void> {
  const row = table(
    `${SPEED_METRICS} metrics of ${SPEED_POINTS} points on two sides, the best of ${SPEED_ROUNDS}`,
    'judge | ms',
  )
  const { normal } = makeRandom(Number(flags.seed))
  const side = (level: number): Side => ({
    values: Float64Array.from({ length: SPEED_POINTS }, () => level * Math.exp(0.3 * normal())),
  })
  for (const [judge, level] of [
    ['default', 100],
    ['default', 150],
    ['kayenta', 100],
  ] as const) {
    const metrics = Array.from({ length: SPEED_METRICS }, (_, index) => ({
      ...{ spec: specOf(`metric ${index}`), control: side(100), experiment: side(level) },
    }))
    const times = Array.from({ length: SPEED_ROUNDS }, () => {
      const startedAtMs = performance.now()
      judgeMetrics({ metrics, groupWeights: {}, thresholds: THRESHOLDS }, { judge })
      return performance.now() - startedAtMs
    })
    row(`${judge}, canary at ${level} %`, Math.min(...times))
  }
  return Promise.resolve()
}

function series(): Promise<void> {
  compareSeries(flags.series, Number(flags.seed), table('Series, windows of 60 points', SERIES_COLUMNS))
  return Promise.resolve()
}

async function intervals(): Promise<void> {
  const row = table('Whole intervals with files as source', INTERVAL_COLUMNS)
  await measureIntervals(Number(flags.lines), row)
}

function specOf(name: string): MetricSpec {
  const [spec] = readMetricSpecs({ metrics: [{ name, groups: ['all'] }] })
  if (spec === undefined) throw new Error('a config of one metric has one metric')
  return spec
}

await runParts(flags.only, { pairs, runs, series, coverage, speed, intervals })
