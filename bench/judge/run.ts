import { parseArgs } from 'node:util'

import { readMetricSpecs } from '../../src/analysis/judge/canary-config.js'
import { judgeMetrics } from '../../src/analysis/judge/judge-run.js'
import type { JudgeOptions, MetricResult, MetricSpec, Side } from '../../src/analysis/judge/series/types.js'
import { makeRandom, ROWS, WORSE_BURSTS } from './generate-pairs.js'
import { POD_ROWS } from './generate-pods.js'
import { RUN_ROWS } from './generate-runs.js'
import { simulateCoverage, simulateRuns } from './simulate-runs.js'
import type { Pair, Row } from './generate-pairs.js'

const { values: flags } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '20261121' },
    only: { type: 'string', default: '' },
    kayenta: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const SPEED_METRICS = 200
const SPEED_POINTS = 1440
const SPEED_ROUNDS = 5
/** A share is as good as its limit from half of the last digit that is printed. */
const ROUNDING = 0.05
const COVERAGE = { least: 88, most: 92 }
/** A share near 90 is known to a point and a half, and no better, by a thousand pairs: so many times as many are drawn. */
const COVERAGE_PAIRS = 5
const THRESHOLDS = { pass: 95, marginal: 75 }

/** What a judge says of a row's pairs, in per cent. */
interface Shares {
  readonly changed: number
  readonly inconclusive: number
}

function main(): void {
  console.log(`${flags.pairs} pairs a row, seed ${flags.seed}\n`)
  console.log(line(['row', 'Kayenta %', 'prototype %', 'Tidegate %', 'inconclusive %', 'limit', '']))
  console.log(line(['---', '--:', '--:', '--:', '--:', '--:', '---']))
  const missed = [...ROWS, ...POD_ROWS, ...WORSE_BURSTS]
    .filter(({ name }) => name.includes(flags.only))
    .filter((row) => !report(row))
  const missedRuns = reportRuns()
  const missedCoverages = flags.only === '' ? reportCoverage() : []
  if (flags.only === '') reportSpeed()
  if (missed.length + missedRuns.length + missedCoverages.length > 0) process.exitCode = 1
}

/** Prints what whole runs show; those rows that miss their limit. */
function reportRuns(): readonly unknown[] {
  const rows = RUN_ROWS.filter(({ name }) => name.includes(flags.only))
  if (rows.length === 0) return []
  console.log(`\n${line(['runs', 'share', 'Kayenta %', 'Tidegate %', 'limit', ''])}`)
  console.log(line(['---', '---', '--:', '--:', '--:', '---']))
  const [count, seed] = [Number(flags.pairs), Number(flags.seed)]
  return rows.filter((row) => {
    const value = simulateRuns(row, count, seed)
    const kayenta = flags.kayenta ? simulateRuns(row, count, seed, 'kayenta').toFixed(1) : '-'
    const isMissed = value > row.limit + ROUNDING
    const cells = [
      row.name,
      row.share,
      kayenta,
      value.toFixed(1),
      `<= ${row.limit}`,
      isMissed ? 'MISSED' : '',
    ]
    console.log(line(cells))
    return isMissed
  })
}

/** Prints how often intervals hold what they should; the shares that are out of range. */
function reportCoverage(): readonly unknown[] {
  console.log(`\n${line(['intervals of 90 %, events a minute', 'hold the true change, %', ''])}`)
  console.log(line(['---', '--:', '---']))
  const cases = [0.5, 1, 5, 20].flatMap((perMinute) => [1, 2, 5].map((factor) => ({ perMinute, factor })))
  return cases.filter(({ perMinute, factor }) => {
    const held = simulateCoverage(
      { perMinute, factor },
      COVERAGE_PAIRS * Number(flags.pairs),
      Number(flags.seed),
    )
    const isMissed = held < COVERAGE.least - ROUNDING || held > COVERAGE.most + ROUNDING
    console.log(line([`${perMinute} -> ${perMinute * factor}`, held.toFixed(1), isMissed ? 'MISSED' : '']))
    return isMissed
  })
}

/** Prints a row; false when the judge misses its limit. */
function report(row: Row): boolean {
  const { changed, inconclusive } = judgePairs(row, 'default')
  const kayenta = flags.kayenta ? judgePairs(row, 'kayenta').changed.toFixed(1) : '-'
  const isFound = row.wanted === 'found' ? changed >= row.limit - ROUNDING : changed <= row.limit
  const isAsked = inconclusive <= (row.inconclusive ?? Infinity) + ROUNDING
  const isMet = isFound && isAsked && changed + inconclusive >= (row.told ?? 0) - ROUNDING
  const prototype = Number.isNaN(row.prototype) ? '-' : String(row.prototype)
  const limit =
    row.told === undefined
      ? `${row.wanted === 'found' ? '>=' : '<='} ${row.limit}${row.inconclusive === undefined ? '' : `, inconclusive <= ${row.inconclusive}`}`
      : `both >= ${row.told}`
  const cells = [row.name, kayenta, prototype, changed.toFixed(1), inconclusive.toFixed(1), limit]
  console.log(line([...cells, isMet ? '' : 'MISSED']))
  return isMet
}

/** Each pair is a run of its own, as for a canary with one metric. */
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

function reportSpeed(): void {
  const { normal } = makeRandom(Number(flags.seed))
  const side = (level: number): Side => ({
    values: Float64Array.from({ length: SPEED_POINTS }, () => level * Math.exp(0.3 * normal())),
  })
  const metricsAt = (level: number) =>
    Array.from({ length: SPEED_METRICS }, (_, index) => ({
      spec: specOf(`metric ${index}`),
      control: side(100),
      experiment: side(level),
    }))
  for (const [judge, level] of [
    ['default', 100],
    ['default', 150],
    ['kayenta', 100],
  ] as const) {
    const metrics = metricsAt(level)
    const times = Array.from({ length: SPEED_ROUNDS }, () => {
      const startedAtMs = performance.now()
      judgeMetrics({ metrics, groupWeights: {}, thresholds: THRESHOLDS }, { judge })
      return performance.now() - startedAtMs
    })
    const residentMb = process.memoryUsage.rss() / 1e6
    console.log(
      `\n${judge}, canary at ${level} %: ${SPEED_METRICS} metrics x ${SPEED_POINTS} points x 2 sides in ${Math.min(...times).toFixed(0)} ms, best of ${SPEED_ROUNDS}; ${residentMb.toFixed(0)} MB resident`,
    )
  }
}

function specOf(name: string): MetricSpec {
  const [spec] = readMetricSpecs({ metrics: [{ name, groups: ['all'] }] })
  if (spec === undefined) throw new Error('a config of one metric has one metric')
  return spec
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

main()
