import { UNPROVEN } from './pass-reason.js'
import { ownMember } from '../../../lib/own-member.js'
import type { GroupScore, JudgeInput, JudgeReport, MetricResult } from '../series/types.js'

const FULL = 100
/** How near below a threshold a score is put that a review keeps from reaching it. */
const JUST_BELOW = 0.01

/** States of metrics that were judged, but not to an end. */
const LOOKED_AT: readonly unknown[] = ['undecided', 'doubtful']

type Scores = Pick<JudgeReport, 'score' | 'verdict' | 'endsRun' | 'groupScores'>

/**
 * Group scores (the mean of their metrics that count), their weighted mean, and the verdict. The
 * score never exceeds the verdict: a run that needs a review stays below the passing score,
 * whatever the marginal score is, and a run with a critical failure has 0.
 */
export function scoreRun(
  results: readonly MetricResult[],
  { groupWeights, thresholds }: Pick<JudgeInput, 'groupWeights' | 'thresholds'>,
): Scores {
  const counted = results.filter(({ muted }) => !muted)
  const groupScores = [...new Set(counted.flatMap(({ groups }) => groups))].map((name) =>
    scoreGroup(
      name,
      counted.filter(({ groups }) => groups.includes(name)),
    ),
  )
  const critical = counted.filter((result) => result.critical)
  if (critical.length > 0) {
    const [one] = critical.length === 1 ? critical : []
    const why = one === undefined || one.classificationReason === '' ? '' : `. ${one.classificationReason}`
    const classificationReason = `Critical: ${critical.map(({ name, classification }) => `${name} is ${classification}`).join(', ')}${why}`
    const isJudged = critical.some(({ noData }) => noData === null)
    const score = {
      ...({ score: 0, classification: 'Fail', classificationReason } as const),
      ...(!isJudged && { unscored: 'critical, not judged' as const }),
    }
    // Missing data may arrive by the next interval; a change stays a change.
    return { score, verdict: 'Fail', endsRun: isJudged, groupScores }
  }
  const raw = summarise(groupScores, groupWeights)
  const unknown = counted.filter(({ noData }) => noData?.policy === 'review')
  const isPlain = counted.some(({ isBeyondDoubt }) => isBeyondDoubt)
  const { score, verdict } = withReview(raw, unknown.length > 0 || isPlain, thresholds)
  const classificationReason =
    raw === undefined
      ? nothingJudged(results, unknown)
      : reasonOf(counted, unknown, { score: raw, verdict }, thresholds)
  return {
    score: { score, classification: verdict, classificationReason, ...unscoredOf(raw, unknown) },
    verdict,
    endsRun: false,
    groupScores,
  }
}

/** A score without the critical metric, or without any, says nothing. */
function unscoredOf(
  raw: number | undefined,
  unknown: readonly MetricResult[],
): Pick<JudgeReport['score'], 'unscored'> {
  if (raw === undefined) return { unscored: 'nothing judged' }
  return unknown.some(({ isCriticalMetric }) => isCriticalMetric) ? { unscored: 'critical, not judged' } : {}
}

function scoreGroup(name: string, members: readonly MetricResult[]): GroupScore {
  const scores = members.flatMap(({ score }) => (score === null ? [] : [score]))
  if (scores.length === 0) {
    return {
      name,
      score: 0,
      classification: 'Nodata',
      classificationReason: 'No metric of the group could be judged',
    }
  }
  const score = round(scores.reduce((sum, value) => sum + value, 0) / scores.length)
  return { name, score, classification: '', classificationReason: '' }
}

/**
 * Groups without a weight share the rest of 100. Groups without a score give their weight to the
 * others.
 */
function summarise(
  groups: readonly GroupScore[],
  weights: Readonly<Record<string, number>>,
): number | undefined {
  const judged = groups.filter(({ classification }) => classification === '')
  if (judged.length === 0) return undefined
  const unweighted = judged.filter(({ name }) => ownMember(weights, name) === undefined).length
  const rest = FULL - Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  const weightOf = (name: string): number => ownMember(weights, name) ?? Math.max(0, rest) / unweighted
  const total = judged.reduce((sum, { name }) => sum + weightOf(name), 0)
  const weightedSum = judged.reduce((sum, { name, score }) => sum + score * weightOf(name), 0)
  return round(
    total > 0 ? weightedSum / total : judged.reduce((sum, { score }) => sum + score, 0) / judged.length,
  )
}

/**
 * The verdict, and the score that it allows. A run without results needs a review, and so does a
 * passing run with an unknown part. A marginal score equal to the passing score, as some clients
 * send, must not turn that into a success.
 */
function withReview(
  raw: number | undefined,
  needsReview: boolean,
  { pass, marginal }: JudgeInput['thresholds'],
): Pick<JudgeReport, 'verdict'> & { readonly score: number } {
  const justBelow = Math.max(0, round(pass - JUST_BELOW))
  if (raw === undefined) return { score: Math.min(marginal, justBelow), verdict: 'Review' }
  if (raw >= pass && needsReview)
    return { score: marginal < pass ? Math.max(marginal, justBelow) : justBelow, verdict: 'Review' }
  return { score: raw, verdict: raw >= pass ? 'Success' : raw >= marginal ? 'Review' : 'Fail' }
}

/**
 * Metrics by the statement made about them. Each is listed once, with its own reason if no other
 * metric is listed.
 */
function named(parts: readonly (readonly [title: string, results: readonly MetricResult[]])[]): string[] {
  const listed = new Set(parts.flatMap(([, results]) => results))
  const nameOf = ({ name, classificationReason: reason }: MetricResult, title: string): string =>
    listed.size === 1 && reason !== '' ? `${name}. ${reason.replace(`${title}. `, '')}` : name
  return parts
    .filter(([, results]) => results.length > 0)
    .map(([title, results]) => `${title}: ${results.map((result) => nameOf(result, title)).join(', ')}`)
}

/** Metrics to review, grouped by reason. */
function openParts(
  unknown: readonly MetricResult[],
): readonly (readonly [title: string, results: readonly MetricResult[]])[] {
  const inState = (isIt: (state: unknown) => boolean): readonly MetricResult[] =>
    unknown.filter(({ noData }) => isIt(noData?.state))
  return [
    ['Not decided at this interval', inState((state) => state === 'undecided')],
    ['To be reviewed', inState((state) => state === 'doubtful')],
    ['Not judged', inState((state) => !LOOKED_AT.includes(state))],
  ]
}

function nothingJudged(results: readonly MetricResult[], unknown: readonly MetricResult[]): string {
  const isIgnored = ({ muted, noData }: MetricResult): boolean => !muted && noData?.policy === 'ignore'
  const others = [
    ['Muted', results.filter(({ muted }) => muted)],
    ['Left out by noData', results.filter(isIgnored)],
  ] as const
  const parts = named(openParts(unknown))
  const rest = others
    .filter(([, members]) => members.length > 0)
    .map(([title, members]) => `${title}: ${members.map(({ name }) => name).join(', ')}`)
  const isSeen = unknown.some(({ noData }) => LOOKED_AT.includes(noData?.state))
  const all = [...parts, ...rest].join('. ')
  return isSeen ? all : `Nothing could be judged: ${all.replace(/^Not judged: /, '')}`
}

function reasonOf(
  counted: readonly MetricResult[],
  unknown: readonly MetricResult[],
  { score, verdict }: { readonly score: number; readonly verdict: JudgeReport['verdict'] },
  { pass, marginal }: JudgeInput['thresholds'],
): string {
  const parts = named([
    ['Beyond doubt', counted.filter(({ isBeyondDoubt }) => isBeyondDoubt)],
    [
      'Lost points',
      counted.filter(
        ({ score: points, isBeyondDoubt }) => !isBeyondDoubt && points !== null && points < FULL,
      ),
    ],
    ...openParts(unknown),
  ])
  if (verdict === 'Success') {
    const noted = counted.filter(({ notes = [] }) => notes.length > 0).map(({ name }) => name)
    const isUnproven = counted.some(({ classificationReason: why }) => why.startsWith(UNPROVEN))
    const unchanged = isUnproven ? UNPROVEN : 'No metric changed in a way that matters'
    const reason = parts.length > 0 ? parts.join('. ') : unchanged
    return noted.length > 0 ? `${reason}. Metrics with notes: ${noted.join(', ')}` : reason
  }
  const [limit, better] = verdict === 'Review' ? [pass, 'success'] : [marginal, 'review']
  // A score that a review holds back is no reason.
  const below = score < limit ? [`The score of ${score} is below ${limit}, the minimum for a ${better}`] : []
  return [...parts, ...below].join('. ')
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
