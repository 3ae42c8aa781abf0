import { printable } from '../../lib/text/shown-text.js'
import { median } from 'd3-array'
import { z } from 'zod'

import type { BacktestMetric, Outcomes } from '../../analysis/runs/backtest/backtest.js'
import { CHANGE_NAMES } from '../../analysis/runs/backtest/changed-side.js'
import { minutesToFind } from '../../analysis/runs/backtest/detectable.js'
import type { BacktestDay } from '../../analysis/runs/try-definition.js'
import { precisePercent, toThreeDigits } from '../../lib/text/number-text.js'
import { Progress } from '../output/progress.js'
import { count, textTable } from '../output/text-table.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import { outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import type { BacktestOptions } from './run-options.js'

/** Partial schema: the service has the same release. */
const Day = z
  .looseObject({ metrics: z.array(z.looseObject({})), verdicts: z.looseObject({}) })
  .transform((value) => value as unknown as BacktestDay)
const PAIRINGS = { pods: 'halves of the pods', points: 'every other point', earlier: 'the earlier time' }
/** The changes for which `plan` reports the minutes. */
const PLANNED_CHANGES = [0.01, 0.05, 0.1] as const
const NOTHING = '–'

type Named = Pick<BacktestMetric, 'target' | 'name'>

/** The outcomes of all days of a backtest. */
type Backtest = Pick<BacktestDay, 'application' | 'judge' | 'lifetimeMinutes' | 'verdicts' | 'metrics'> & {
  readonly days: number
}

/** Prints the false alarms and finds of each metric. Returns 1 if nothing could be judged. */
export async function backtestDefinition(
  application: string,
  options: BacktestOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const tested = await testDays(application, options, terminal)
  if (options.format === 'json') outJson(terminal, tested)
  else terminal.out(printable(backtestText(tested, terminal.columns)))
  return exitCodeOf(tested)
}

/** Prints the minutes that each metric needs. Returns 1 if nothing could be judged. */
export async function planDefinition(
  application: string,
  options: BacktestOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const tested = await testDays(application, options, terminal)
  const metrics = tested.metrics.map((metric) => planOf(metric, tested.lifetimeMinutes))
  const { days, lifetimeMinutes } = tested
  if (options.format === 'json') outJson(terminal, { application, days, lifetimeMinutes, metrics })
  else terminal.out(printable(planText(tested, metrics, terminal.columns)))
  return exitCodeOf(tested)
}

/** Requests one day after the other, the first one first. */
async function testDays(
  application: string,
  { days, windows, baseline, ...options }: BacktestOptions,
  terminal: Terminal,
): Promise<Backtest> {
  const client = await makeServiceClient(options, terminal)
  const progress = new Progress(terminal)
  const path = `/analysis/applications/${encodeURIComponent(application)}/backtest`
  const tested: BacktestDay[] = []
  for (let daysAgo = days; daysAgo > 0; daysAgo -= 1) {
    const asked = client.request(Day, { method: 'POST', path, body: { daysAgo, windows, baseline } })
    tested.push(await progress.during(`day ${days - daysAgo + 1} of ${days}`, asked))
  }
  const [first] = tested
  if (first === undefined) throw new Error('a backtest has at least one day')
  const { judge, lifetimeMinutes } = first
  const verdicts = { Success: 0, Review: 0, Fail: 0 }
  for (const day of tested) {
    for (const verdict of ['Success', 'Review', 'Fail'] as const) verdicts[verdict] += day.verdicts[verdict]
  }
  const named = Map.groupBy(
    tested.flatMap(({ metrics }) => metrics),
    ({ target, name }) => JSON.stringify([target, name]),
  )
  return { application, judge, lifetimeMinutes, days, verdicts, metrics: [...named.values()].flatMap(joined) }
}

function joined(parts: readonly BacktestMetric[]): BacktestMetric[] {
  const [first] = parts
  if (first === undefined) return []
  const changes = CHANGE_NAMES.flatMap((name) => {
    const of = parts.flatMap((part) => part.changes[name] ?? [])
    return of.length === 0 ? [] : [[name, sumOf(of)] as const]
  })
  return [
    {
      ...{ target: first.target, name: first.name },
      pairings: [...new Set(parts.flatMap(({ pairings }) => pairings))],
      unchanged: sumOf(parts.map(({ unchanged }) => unchanged)),
      changes: Object.fromEntries(changes),
      detectable: parts.flatMap(({ detectable }) => detectable),
      margin: parts.find(({ margin }) => margin !== null)?.margin ?? null,
      problems: [...new Set(parts.flatMap(({ problems }) => problems))],
    },
  ]
}

function sumOf(outcomes: readonly Outcomes[]): Outcomes {
  const sum = (key: keyof Outcomes): number => outcomes.reduce((total, one) => total + one[key], 0)
  return { judged: sum('judged'), failed: sum('failed'), reviews: sum('reviews') }
}

function exitCodeOf({ metrics }: Backtest): ExitCode {
  return metrics.some(({ unchanged }) => unchanged.judged > 0) ? EXIT.fine : EXIT.denied
}

function headOf({ application, days, lifetimeMinutes }: Backtest): string {
  return `${application}, the baseline against itself: runs of ${count(lifetimeMinutes, 'minute')} in the last ${count(days, 'day')}`
}

function backtestText(tested: Backtest, columns: number | undefined): string {
  const { verdicts, metrics } = tested
  const rows = metrics.map((metric) => [
    nameOf(metric, metrics),
    String(metric.unchanged.judged),
    shareOf(metric.unchanged, 'failed'),
    shareOf(metric.unchanged, 'reviews'),
    ...CHANGE_NAMES.map((name) => foundShares(metric.changes[name])),
    metric.pairings.map((pairing) => PAIRINGS[pairing]).join(', ') || NOTHING,
  ])
  const heading = [
    'METRIC',
    'WINDOWS',
    'FAILED',
    'REVIEW',
    ...CHANGE_NAMES.map((name) => `${name} FAIL / REVIEW`),
    'SIDES',
  ]
  const numeric = [1, 2, 3, ...CHANGE_NAMES.map((_, index) => index + 4)]
  const whole = `Unchanged: ${verdicts.Success} Success, ${verdicts.Review} Review, ${verdicts.Fail} Fail`
  return `${headOf(tested)}\n${whole}\n\n${textTable([heading, ...rows], numeric, columns)}${problemText(metrics)}`
}

function nameOf({ target, name }: Named, all: readonly Named[]): string {
  return new Set(all.map((metric) => metric.target)).size > 1 ? `${target}: ${name}` : name
}

function shareOf(outcomes: Outcomes, key: 'failed' | 'reviews'): string {
  return outcomes.judged === 0 ? NOTHING : precisePercent(outcomes[key] / outcomes.judged)
}

/** Shares of failures and of reviews. Both find a change. */
function foundShares(outcomes: Outcomes | undefined): string {
  if (outcomes === undefined || outcomes.judged === 0) return NOTHING
  return `${shareOf(outcomes, 'failed')} / ${shareOf(outcomes, 'reviews')}`
}

function problemText(metrics: readonly BacktestMetric[]): string {
  const lines = metrics.flatMap((metric) =>
    metric.problems.map((problem) => `  ${nameOf(metric, metrics)}: ${problem}\n`),
  )
  return lines.length === 0 ? '' : `\nWindows that could not be judged:\n${lines.join('')}`
}

/** The needs of one metric. */
interface MetricPlan {
  readonly target: string
  readonly name: string
  readonly margin: number | null
  /** The smallest change that 8 of 10 runs find, as a share of the baseline. Null if not known. */
  readonly detectable: number | null
  /** Minutes of a run that finds each change in 8 of 10 runs. */
  readonly minutes: readonly { readonly change: number; readonly minutes: number }[]
  readonly minutesForMargin: number | null
}

function planOf({ target, name, margin, detectable }: BacktestMetric, lifetimeMinutes: number): MetricPlan {
  const found = median(detectable) ?? null
  const minutesFor = (change: number): number =>
    found === null ? Number.NaN : minutesToFind(change, found, lifetimeMinutes)
  return {
    ...{ target, name, margin, detectable: found },
    minutes: found === null ? [] : PLANNED_CHANGES.map((change) => ({ change, minutes: minutesFor(change) })),
    minutesForMargin: found === null || margin === null || margin <= 0 ? null : minutesFor(margin),
  }
}

function planText(tested: Backtest, plans: readonly MetricPlan[], columns: number | undefined): string {
  const { metrics, lifetimeMinutes } = tested
  const rows = plans.map(({ target, name, margin, detectable, minutes }) => [
    nameOf({ target, name }, metrics),
    margin === null ? NOTHING : precisePercent(margin),
    detectable === null ? NOTHING : precisePercent(detectable),
    ...PLANNED_CHANGES.map((_, index) => minutesText(minutes[index]?.minutes)),
  ])
  const heading = [
    'METRIC',
    'MARGIN',
    'FINDS',
    ...PLANNED_CHANGES.map((change) => `MINUTES FOR ${precisePercent(change)}`),
  ]
  const warnings = plans.flatMap(({ target, name, margin, detectable, minutesForMargin }) =>
    margin === null || detectable === null || minutesForMargin === null || detectable <= margin
      ? []
      : [
          `  ${nameOf({ target, name }, metrics)}: its margin is ${precisePercent(margin)}, but a run of ${count(lifetimeMinutes, 'minute')} finds changes from ${precisePercent(detectable)} on. Set a margin of ${precisePercent(detectable)}, or run for ${minutesText(minutesForMargin)} minutes.\n`,
        ],
  )
  const warned =
    warnings.length === 0 ? '' : `\nRuns that cannot find their own margin:\n${warnings.join('')}`
  return `${headOf(tested)}\n\n${textTable([heading, ...rows], [1, 2, 3, 4, 5], columns)}${warned}${problemText(metrics)}`
}

function minutesText(minutes: number | undefined): string {
  return minutes === undefined ? NOTHING : toThreeDigits(Math.max(1, Math.ceil(minutes)))
}
