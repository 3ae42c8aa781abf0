import { percent } from '../../lib/text/number-text.js'
import type { MetricResult } from '../../canary/index.js'
import type { CheckReport } from '../../analysis/runs/checks/check.js'
import type { ShownRun } from '../../analysis/runs/show-run.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import { outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { fetchRun } from './query-runs.js'
import { printable } from '../../lib/text/shown-text.js'

/** A metric, log template or check in two runs; null if a run does not have it. */
interface Compared {
  readonly target: string
  readonly name: string
  readonly first: Outcome | null
  readonly second: Outcome | null
}

interface Outcome {
  readonly result: string
  /** Change of the canary against its own baseline, as a share. */
  readonly change: number | null
  /** Score of an answered check, 0 to 100. */
  readonly score?: number
}

/** Compares the last intervals of two runs. Returns 1 if the second has a worse verdict or none. */
export async function compareRuns(
  [first, second]: readonly [string, string],
  options: ServiceOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const [before, after] = await Promise.all([fetchRun(client, first), fetchRun(client, second)])
  const rows = compare(before, after)
  const summary = ({ id, application, verdict, score, message }: ShownRun): object => ({
    ...{ id, application, verdict, score, message },
  })
  if (options.format === 'json') outJson(terminal, { first: summary(before), second: summary(after), rows })
  else
    terminal.out(`${printable(headOf(before))}${printable(headOf(after))}\n${tableOf(rows, before, after)}`)
  const isWorse = rankOf(after) < rankOf(before) || after.verdict === undefined
  return isWorse ? EXIT.denied : EXIT.fine
}

/**
 * Returns the metrics, log templates with a severity, and checks of both runs, different results
 * first.
 */
function compare(before: ShownRun, after: ShownRun): readonly Compared[] {
  const [old, now] = [outcomesOf(before), outcomesOf(after)]
  const keys = [...new Set([...old.keys(), ...now.keys()])]
  return keys
    .map((key): Compared => {
      const [target = '', name = ''] = JSON.parse(key) as readonly string[]
      return { target, name, first: old.get(key) ?? null, second: now.get(key) ?? null }
    })
    .toSorted((a, b) => Number(isOther(b)) - Number(isOther(a)))
}

function isOther({ first, second }: Compared): boolean {
  return first?.result !== second?.result
}

function outcomesOf({ report }: ShownRun): ReadonlyMap<string, Outcome> {
  const targets = report?.targets ?? []
  return new Map(
    targets.flatMap(({ name, metrics, logs, checks = [] }) => {
      // If both runs have a single target, their names do not matter.
      const target = targets.length > 1 ? name : ''
      const named = (what: string, outcome: Outcome): readonly [string, Outcome] => [
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

function ofMetric({ classification, finding, ratio }: MetricResult): Outcome {
  return {
    result: classification,
    change: finding?.relative?.estimate ?? (ratio === null ? null : ratio - 1),
  }
}

/** A check without an answer is no failure, but it differs from any verdict. */
function ofCheck({ verdict, score, isUnanswered }: CheckReport): Outcome {
  return isUnanswered ? { result: 'no answer', change: null } : { result: verdict, change: null, score }
}

function headOf({ id, application, verdict, state, score, unscored, message }: ShownRun): string {
  const why = message === '' ? '' : `, ${message}`
  return `analysis ${id} of ${application}: ${verdict ?? state.toLowerCase()} with ${unscored === undefined ? (score ?? '–') : '–'} of 100${why}\n`
}

function tableOf(rows: readonly Compared[], before: ShownRun, after: ShownRun): string {
  const cells = ({ target, name, first, second }: Compared): string[] => [
    target === '' ? name : `${target}: ${name}`,
    ...[first, second].flatMap((outcome) => [resultText(outcome), shown(outcome?.change ?? null)]),
  ]
  const heading = ['METRIC', String(before.id), 'CHANGE', String(after.id), 'CHANGE']
  return textTable([heading, ...rows.map(cells)], [2, 4])
}

function resultText(outcome: Outcome | null): string {
  if (outcome === null) return '-'
  return outcome.score === undefined ? outcome.result : `${outcome.result} (${outcome.score} of 100)`
}

function shown(change: number | null): string {
  return change === null || !Number.isFinite(change) ? '-' : percent(change)
}

function rankOf({ verdict }: ShownRun): number {
  return verdict === 'Success' ? 2 : verdict === 'Review' ? 1 : 0
}
