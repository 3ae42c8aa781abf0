import { ownMember } from '../../../lib/own-member.js'
import type { GroupScore, JudgeInput, MetricResult } from '../series/types.js'

/** The scores of a run in Kayenta's words. */
export interface KayentaScores {
  readonly score: {
    readonly score: number
    readonly classification: 'Pass' | 'Marginal' | 'Fail'
    readonly classificationReason: string
  }
  readonly groupScores: readonly GroupScore[]
}

const FULL = 100
/** From this share of metrics without data on nothing can be said of the run. */
const MAX_NODATA_SHARE = 50

/**
 * Group scores and summary as Kayenta has them (analysis.md 1.2, Scoring); muted metrics are left out. Where none of the others was
 * compared, which `isCompared` tells, the run fails: there it can have the full score, gaps being zeros and a group without data
 * counting as full.
 */
export function scoreMetrics(
  results: readonly MetricResult[],
  { groupWeights, thresholds }: Pick<JudgeInput, 'groupWeights' | 'thresholds'>,
  isCompared: (result: MetricResult) => boolean,
): KayentaScores {
  const counted = results.filter(({ muted }) => !muted)
  const groupScores = [...new Set(counted.flatMap(({ groups }) => groups))].map((name) =>
    scoreGroup(
      name,
      counted.filter(({ groups }) => groups.includes(name)),
    ),
  )
  const override = overrideOf(counted) ?? nothingCompared(counted, isCompared)
  const score = override === undefined ? summarise(groupScores, groupWeights) : 0
  const classification = override === undefined ? classificationOf(score, thresholds) : 'Fail'
  const classificationReason =
    override ?? (classification === 'Pass' ? '' : `the score of ${score} is below ${thresholds.pass}`)
  return { score: { score, classification, classificationReason }, groupScores }
}

function classificationOf(
  score: number,
  { pass, marginal }: JudgeInput['thresholds'],
): KayentaScores['score']['classification'] {
  if (score >= pass) return 'Pass'
  return score >= marginal ? 'Marginal' : 'Fail'
}

function nothingCompared(
  counted: readonly MetricResult[],
  isCompared: (result: MetricResult) => boolean,
): string | undefined {
  if (counted.some(isCompared)) return undefined
  const named = counted.map(({ name, classification }) => `${name} is ${classification}`).join(', ')
  return `nothing could be compared, since no metric had data: ${named || 'all metrics are muted'}`
}

function scoreGroup(name: string, members: readonly MetricResult[]): GroupScore {
  const count = (wanted: MetricResult['classification']): number =>
    members.filter(({ classification }) => classification === wanted).length
  const judged = count('Pass') + count('High') + count('Low') + count('NodataFailMetric')
  if (judged === 0)
    return { name, score: 0, classification: 'Nodata', classificationReason: 'no metric has data' }
  return { name, score: (FULL * count('Pass')) / judged, classification: '', classificationReason: '' }
}

/** A group without data counts as full; what the weights leave of 100 is shared by the groups without one. */
function summarise(groups: readonly GroupScore[], weights: Readonly<Record<string, number>>): number {
  const given = groups.map(({ name }) => ownMember(weights, name))
  const unweighted = given.filter((weight) => weight === undefined).length
  const rest = FULL - Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  const sum = groups.reduce((total, { score, classification }, index) => {
    const weight = given[index] ?? rest / unweighted
    return total + (classification === 'Nodata' ? FULL : score) * (weight / FULL)
  }, 0)
  return Math.round(sum * 100) / 100
}

function overrideOf(counted: readonly MetricResult[]): string | undefined {
  const failed = counted.filter(({ critical, classification }) => critical && classification !== 'Pass')
  if (failed.length > 0) {
    return `Canary Failed: ${failed.map(({ name, classification }) => `${name} is ${classification}`).join(', ')}`
  }
  const empty = counted.filter(({ classification }) => classification === 'Nodata').length
  return (empty / counted.length) * FULL >= MAX_NODATA_SHARE
    ? `no data for ${empty} of ${counted.length} metrics`
    : undefined
}
