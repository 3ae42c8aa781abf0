import type { MetricResult } from '../../canary/index.js'
import type { CheckReport } from './checks/check.js'
import type { ShownRun } from './show-run.js'

/** A metric, log template or check in two runs; null if a run does not have it. */
export interface ComparedPart {
  readonly target: string
  readonly name: string
  readonly first: PartOutcome | null
  readonly second: PartOutcome | null
}

export interface PartOutcome {
  readonly result: string
  /** Change of the canary against its own baseline, as a share. */
  readonly change: number | null
  /** Score of an answered check, 0 to 100. */
  readonly score?: number
}

/**
 * Returns the metrics, log templates with a severity, and checks of both runs, different results
 * first.
 */
export function compareReports(
  before: Pick<ShownRun, 'report'>,
  after: Pick<ShownRun, 'report'>,
): readonly ComparedPart[] {
  const [old, now] = [outcomesOf(before), outcomesOf(after)]
  const keys = [...new Set([...old.keys(), ...now.keys()])]
  return keys
    .map((key): ComparedPart => {
      const [target = '', name = ''] = JSON.parse(key) as readonly string[]
      return { target, name, first: old.get(key) ?? null, second: now.get(key) ?? null }
    })
    .toSorted((a, b) => Number(isOther(b)) - Number(isOther(a)))
}

/** Whether both runs have different results. */
export function isOther({ first, second }: ComparedPart): boolean {
  return first?.result !== second?.result
}

function outcomesOf({ report }: Pick<ShownRun, 'report'>): ReadonlyMap<string, PartOutcome> {
  const targets = report?.targets ?? []
  return new Map(
    targets.flatMap(({ name, metrics, logs, checks = [] }) => {
      // If both runs have a single target, their names do not matter.
      const target = targets.length > 1 ? name : ''
      const named = (what: string, outcome: PartOutcome): readonly [string, PartOutcome] => [
        JSON.stringify([target, what]),
        outcome,
      ]
      return [
        ...checks.map((check) => named(`check: ${check.name}`, ofCheck(check))),
        ...(metrics?.results ?? []).map((result) => named(result.name, ofMetric(result))),
        ...(logs?.findings ?? []).map(({ template, isUnexpected, change, ratio }) =>
          named(`log: ${template}`, {
            result: isUnexpected ? change : 'Pass',
            change: ratio === null ? null : ratio - 1,
          }),
        ),
      ]
    }),
  )
}

function ofMetric({ classification, finding, ratio }: MetricResult): PartOutcome {
  return {
    result: classification,
    change: finding?.relative?.estimate ?? (ratio === null ? null : ratio - 1),
  }
}

/** A check without an answer is no failure, but it differs from any verdict. */
function ofCheck({ verdict, score, isUnanswered }: CheckReport): PartOutcome {
  return isUnanswered ? { result: 'no answer', change: null } : { result: verdict, change: null, score }
}

/** Whether the second run has a worse verdict than the first, or none. */
export function isWorse(before: Pick<ShownRun, 'verdict'>, after: Pick<ShownRun, 'verdict'>): boolean {
  return rankOf(after) < rankOf(before) || after.verdict === undefined
}

function rankOf({ verdict }: Pick<ShownRun, 'verdict'>): number {
  return verdict === 'Success' ? 2 : verdict === 'Review' ? 1 : 0
}
