import { Option } from 'commander'
import type { Command } from 'commander'

import {
  defineCancel,
  defineCompare,
  defineFeedback,
  defineList,
  definePrecision,
  defineReplay,
  defineReport,
  defineShow,
  defineStart,
} from './analysis/runs.js'
import { watchFiles, wrongUse } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, addOutputOptions } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { PlannedInterval } from '../canary/index.js'
import type { JudgeCommandOptions } from './analysis/judge-file.js'
import { addWatchOption } from './session/watch.js'
import { addServiceOptions } from './session/service-options.js'
import type { BacktestOptions, TryOptions } from './analysis/run-options.js'

/**
 * `tidegate analysis`. Command definitions only contain options; actions load their code on demand.
 */
export function defineAnalysis(command: Command, session: Session): void {
  command
    .description('Judges canaries against their baseline.')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis judge canary.json',
        'tidegate analysis logs stable.log canary.log',
        'tidegate analysis try shop',
        'tidegate analysis start shop --wait',
        'tidegate analysis show 17',
      ),
    )
  // Subcommands inherit the settings of this command.
  const add = (name: string): Command => command.command(name)
  defineJudge(add('judge'), session)
  defineLogs(add('logs'), session)
  defineTemplates(add('templates'), session)
  defineTry(add('try'), session)
  defineBacktest(add('backtest'), session)
  definePlan(add('plan'), session)
  defineList(add('list'), session)
  defineShow(add('show'), session)
  defineReport(add('report'), session)
  defineCompare(add('compare'), session)
  defineStart(add('start'), session)
  defineCancel(add('cancel'), session)
  defineReplay(add('replay'), session)
  defineFeedback(add('feedback'), session)
  definePrecision(add('precision'), session)
}

const INTERVAL = /^(\d{1,6})\/(\d{1,6})$/

/** `tidegate analysis judge FILE`: judges the metrics of a canary. */
function defineJudge(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(command))
    .summary('judge the metrics of a canary')
    .description(
      'Judges the metrics of one file: a Kayenta canary config in which each metric also has "values": {"control": […], "experiment": […]}, with null for a gap. Exits with 0 for a success, 1 for a failure or a review, and 2 for an error.',
    )
    .argument('<file>', 'canary config with values, JSON or YAML; - for standard input')
    .addOption(
      new Option('--judge <judge>', 'which judge').choices(['default', 'kayenta']).default('default'),
    )
    .addOption(
      new Option(
        '--tolerance <share>',
        'tolerated change: a share of the baseline (default judge, 0.05) or of the change itself (kayenta, 0.25)',
      ).argParser((text: string) => share('--tolerance', text, true)),
    )
    .addOption(
      new Option('--confidence <share>', 'confidence of the intervals (default: 0.98)').argParser(
        (text: string) => share('--confidence', text, false),
      ),
    )
    .addOption(
      new Option(
        '--interval <k/K>',
        'judge this as interval k of K in a run, which spreads the allowed error over all intervals',
      ).argParser(readInterval),
    )
    // Former name of the flag.
    .addOption(new Option('--look <k/K>').argParser(readInterval).hideHelp())
    .addHelpText(
      'after',
      examples(
        'tidegate analysis judge canary.json',
        'tidegate analysis judge canary.json --judge kayenta --tolerance 0.1 --confidence 0.95',
        'tidegate analysis judge canary.json --format json --interval 2/6',
      ),
    )
    .action(async (file: string, options: JudgeCommandOptions) => {
      await watchFiles(session, [file])
      const { judgeFile } = await import('./analysis/judge-file.js')
      session.exitCode = await judgeFile(file, options, session.terminal)
    })
}

function share(flag: string, text: string, zeroAllowed: boolean): number {
  const value = Number(text)
  const isShare = text.trim() !== '' && value < 1 && (zeroAllowed ? value >= 0 : value > 0)
  if (isShare) return value
  const lower = zeroAllowed ? 'from 0' : 'above 0'
  throw wrongUse(`${flag} must be a number ${lower} and below 1, not '${text}'`)
}

function readInterval(text: string): PlannedInterval {
  const [, first, second] = INTERVAL.exec(text) ?? []
  const interval = Number(first)
  const intervals = Number(second)
  if (interval >= 1 && interval <= intervals) return { interval, intervals }
  throw wrongUse(`--interval must have the form 2/6, not '${text}'`)
}

/** `tidegate analysis logs BASELINE CANARY`: judges two log files. */
function defineLogs(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(command))
    .summary('judge the log of a canary against that of its baseline')
    .description(
      'Compares two log files: errors that are new or more frequent in the second. Lines are plain text, or JSON objects in files that end with .jsonl, .ndjson or .json. Exits with 0 for a success, 1 for a failure or a review, and 2 for an error.',
    )
    .argument('<baseline>', 'the log of the baseline')
    .argument('<canary>', 'the log of the canary')
    .addHelpText('after', examples('tidegate analysis logs stable.log canary.log'))
    .action(async (baseline: string, canary: string, options: OutputOptions) => {
      await watchFiles(session, [baseline, canary])
      const { judgeLogFiles } = await import('./analysis/judge-logs.js')
      session.exitCode = await judgeLogFiles([baseline, canary], options, session.terminal)
    })
}

/** `tidegate analysis templates FILE`: groups the lines of a log by template. */
function defineTemplates(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(command))
    .summary('group the lines of a log by template')
    .description(
      'Groups the lines of a log by template, like the log judge, and prints a table of the templates. Lines are plain text, with a stack trace as one event, or JSON objects with the text in "content". With --format json, prints {"cluster": …, "template": …} for each line, in order.',
    )
    .argument('<file>', 'the log, with one line or JSON object per line; - for standard input')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis templates app.log',
        'kubectl logs deploy/shop | tidegate analysis templates - --format json',
      ),
    )
    .action(async (file: string, options: OutputOptions) => {
      await watchFiles(session, [file])
      const { listTemplates } = await import('./analysis/list-templates.js')
      session.exitCode = await listTemplates(file, options, session.terminal)
    })
}

/** `tidegate analysis try APPLICATION`: runs the queries of a definition. */
function defineTry(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('run every query of a definition')
    .description(
      'Runs every query of an application’s definition for the time until now and shows both series of each metric and the first lines of each log. Nothing is stored or judged. Exits with 1 if a query failed, returned nothing, or was the same for both sides.',
    )
    .argument('<application>', 'the application')
    .option('--minutes <n>', 'length of the time range in minutes', wholeNumber('--minutes'), 60)
    .option('--baseline <name=value>', 'a scope value of the baseline; repeatable', addValue, {})
    .option('--canary <name=value>', 'a scope value of the canary; repeatable', addValue, {})
    .addHelpText(
      'after',
      examples(
        'tidegate analysis try shop',
        'tidegate analysis try shop --baseline version=v1 --canary version=v2 --minutes 180',
      ),
    )
    .action(async (application: string, options: TryOptions) => {
      const { tryDefinition } = await import('./analysis/try-definition.js')
      session.exitCode = await tryDefinition(application, options, session.terminal)
    })
}

/** `tidegate analysis backtest APPLICATION`: judges the past of a definition's metrics. */
function defineBacktest(command: Command, session: Session): void {
  addPastOptions(addServiceOptions(command), 30)
    .summary('false alarms and finds of a definition in past data')
    .description(
      'Judges windows of the past in which the baseline is compared with itself: half of its pods with the others, or every other point of twice the time. Shows for each metric how often it failed or required a review without any change, and the share of runs in which a change of the canary to 1.5, 2 and 5 times and to half of its values was found, by a failure or a review. Logs are not tested, and nothing is stored. Exits with 1 if nothing could be judged.',
    )
    .addHelpText(
      'after',
      examples(
        'tidegate analysis backtest shop --days 30',
        'tidegate analysis backtest shop --baseline version=v1 --format json',
      ),
    )
    .action(async (application: string, options: BacktestOptions) => {
      const { backtestDefinition } = await import('./analysis/backtest.js')
      session.exitCode = await backtestDefinition(application, options, session.terminal)
    })
}

/** `tidegate analysis plan APPLICATION`: the minutes that a definition's metrics need. */
function definePlan(command: Command, session: Session): void {
  addPastOptions(addServiceOptions(command), 3)
    .summary('minutes that each metric needs to find a change')
    .description(
      'Estimates from past data how many minutes a run needs to find a change of 1, 5 and 10 % in 8 of 10 runs, and warns about metrics whose margin is smaller than the smallest change that a run can find. Exits with 1 if nothing could be judged.',
    )
    .addHelpText('after', examples('tidegate analysis plan shop', 'tidegate analysis plan shop --days 7'))
    .action(async (application: string, options: BacktestOptions) => {
      const { planDefinition } = await import('./analysis/backtest.js')
      session.exitCode = await planDefinition(application, options, session.terminal)
    })
}

function addPastOptions(command: Command, days: number): Command {
  return command
    .argument('<application>', 'the application')
    .option('--days <n>', 'number of past days', wholeNumber('--days'), days)
    .option('--windows <n>', 'maximum number of windows of a day, up to 24', wholeNumber('--windows'), 4)
    .option('--baseline <name=value>', 'a scope value of the baseline; repeatable', addValue, {})
}

function wholeNumber(flag: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
    throw wrongUse(`${flag} must be a whole number from 1 to 9999, not '${text}'`)
  }
}

function addValue(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  throw wrongUse(`a scope value must have the form name=value, not '${text}'`)
}
