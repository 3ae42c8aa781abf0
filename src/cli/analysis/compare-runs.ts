import { percent } from '../../lib/text/number-text.js'
import { compareReports, isWorse } from '../../analysis/runs/compare-runs.js'
import type { ComparedPart, PartOutcome } from '../../analysis/runs/compare-runs.js'
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

/** Compares the last intervals of two runs. Returns 1 if the second has a worse verdict or none. */
export async function compareRuns(
  [first, second]: readonly [string, string],
  options: ServiceOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const [before, after] = await Promise.all([fetchRun(client, first), fetchRun(client, second)])
  const rows = compareReports(before, after)
  const summary = ({ id, application, verdict, score, message }: ShownRun): object => ({
    ...{ id, application, verdict, score, message },
  })
  if (options.format === 'json') outJson(terminal, { first: summary(before), second: summary(after), rows })
  else
    terminal.out(`${printable(headOf(before))}${printable(headOf(after))}\n${tableOf(rows, before, after)}`)
  return isWorse(before, after) ? EXIT.denied : EXIT.fine
}

function headOf({ id, application, verdict, state, score, unscored, message }: ShownRun): string {
  const why = message === '' ? '' : `, ${message}`
  return `analysis ${id} of ${application}: ${verdict ?? state.toLowerCase()} with ${unscored === undefined ? (score ?? '–') : '–'} of 100${why}\n`
}

function tableOf(rows: readonly ComparedPart[], before: ShownRun, after: ShownRun): string {
  const cells = ({ target, name, first, second }: ComparedPart): string[] => [
    target === '' ? name : `${target}: ${name}`,
    ...[first, second].flatMap((outcome) => [resultText(outcome), shown(outcome?.change ?? null)]),
  ]
  const heading = ['METRIC', String(before.id), 'CHANGE', String(after.id), 'CHANGE']
  return textTable([heading, ...rows.map(cells)], [2, 4])
}

function resultText(outcome: PartOutcome | null): string {
  if (outcome === null) return '-'
  return outcome.score === undefined ? outcome.result : `${outcome.result} (${outcome.score} of 100)`
}

function shown(change: number | null): string {
  return change === null || !Number.isFinite(change) ? '-' : percent(change)
}
