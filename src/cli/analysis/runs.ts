import type { Command } from 'commander'
import { Option } from 'commander'

import { addPageOptions, addRangeOptions, timeOption } from '../session/list-options.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { addFormerFormOption, examples } from '../session/shared-options.js'
import { REPORT_FORMS } from './run-options.js'
import type { ListOptions, ReplayOptions, ReportOptions, ShowOptions, StartOptions } from './run-options.js'
import { addWatchOption } from '../session/watch.js'

const STATES = ['running', 'completed', 'cancelled']

/** `tidegate analysis list`: the runs of a running service. */
export function defineList(command: Command, session: Session): void {
  addPageOptions(addRangeOptions(addWatchOption(addServiceOptions(command))))
    .summary('list analyses')
    .description('Lists the analyses of a running service, newest first.')
    .option('--application <name>', 'only those of one application')
    .option('--execution <id>', 'only those of one execution')
    .addOption(inAnyCase(new Option('--state <state>', 'only those that stand so').choices(STATES)))
    .addHelpText('after', examples('tidegate analysis list', 'tidegate analysis list --application shop'))
    .action(async (options: ListOptions) => {
      const { listRuns } = await import('./query-runs.js')
      session.exitCode = await listRuns(options, session.terminal)
    })
}

/** `tidegate analysis show ID`: one run with its reasons. */
export function defineShow(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .summary('show one analysis and why it ended so')
    .description(
      'Shows one analysis: score, verdict, its intervals, and every metric and log template with a reason.',
    )
    .argument('<id>', 'the number of the analysis')
    .option('--markdown', 'a short summary in Markdown, for a chat')
    .addHelpText('after', examples('tidegate analysis show 17', 'tidegate analysis show 17 --markdown'))
    .action(async (id: string, options: ShowOptions) => {
      const { showRun } = await import('./query-runs.js')
      session.exitCode = await showRun(id, options, session.terminal)
    })
}

/** `tidegate analysis report ID`: the report as a page or a picture. */
export function defineReport(command: Command, session: Session): void {
  addFormerFormOption(addServiceOptions(command, REPORT_FORMS), REPORT_FORMS)
    .summary('write the report of one analysis as a page or a picture')
    .description(
      'Writes the report of one analysis: the page as one file of HTML that loads nothing, or a picture (PNG) of verdict, reason and the chart that shows it, to be sent to a chat.',
    )
    .argument('<id>', 'the number of the analysis')
    .option('-o, --output <file>', 'the file to write (default: standard output)')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis report 17 --format png -o chart.png',
        'tidegate analysis report 17 > report.html',
      ),
    )
    .action(async (id: string, options: ReportOptions) => {
      const { writeReport } = await import('./write-report.js')
      session.exitCode = await writeReport(id, options, session.terminal)
    })
}

/** `tidegate analysis compare A B`: what two runs found, side by side. */
export function defineCompare(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .summary('compare what two analyses found')
    .description(
      'Shows each metric, log template and check of two analyses with its result and change, what they judge otherwise first; exits with 1 when the second has the worse verdict, or none.',
    )
    .argument('<first>', 'the number of one analysis')
    .argument('<second>', 'the number of the other')
    .addHelpText('after', examples('tidegate analysis compare 16 17'))
    .action(async (first: string, second: string, options: ServiceOptions) => {
      const { compareRuns } = await import('./compare-runs.js')
      session.exitCode = await compareRuns([first, second], options, session.terminal)
    })
}

/** `tidegate analysis start APPLICATION`: what registerCanary does. */
export function defineStart(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('start an analysis')
    .description('Starts an analysis of an application as its definition says; flags say otherwise.')
    .argument('<application>', 'the application')
    .option('--lifetime <minutes>', 'how long it lasts')
    .option('--interval <minutes>', 'how often the data are judged')
    .option('--pass <score>', 'from which score on it is a success, 0 to 100')
    .option('--marginal <score>', 'from which score on it is a review, 0 to 100')
    .option('--execution <id>', 'the execution that it belongs to')
    .addOption(
      timeOption(
        '--canary-start <time>',
        'since when the canary runs, as 2026-01-31T12:00 or 2h for two hours ago (default: now); what has passed of the lifetime is looked at without waiting',
      ),
    )
    .addOption(
      timeOption('--baseline-start <time>', 'from when the baseline is taken (default: as the canary)'),
    )
    .option('--wait', 'wait until it ends; exits with 1 unless it is a success')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis start shop',
        'tidegate analysis start shop --lifetime 30 --wait',
        'tidegate analysis start shop --canary-start 2026-01-31T12:00:00Z',
      ),
    )
    .action(async (application: string, options: StartOptions) => {
      const { startRun } = await import('./query-runs.js')
      session.exitCode = await startRun(application, options, session.terminal)
    })
}

/** An option of choices in small letters that takes them in any. */
function inAnyCase(option: Option): Option {
  const { parseArg } = option
  return option.argParser((text, before) => parseArg?.(text.toLowerCase(), before))
}

/** `tidegate analysis cancel ID`. */
export function defineCancel(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('cancel a running analysis')
    .description('Ends an analysis before its time; one that has ended stays as it is.')
    .argument('<id>', 'the number of the analysis')
    .addHelpText('after', examples('tidegate analysis cancel 17'))
    .action(async (id: string, options: ServiceOptions) => {
      const { cancelRun } = await import('./query-runs.js')
      session.exitCode = await cancelRun(id, options, session.terminal)
    })
}

/** `tidegate analysis replay ID`: judges the stored data again. */
export function defineReplay(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('judge the stored data of an analysis again')
    .description(
      'Judges the data that an analysis kept once more, here, and says whether the report is identical; with --judge, what another judge makes of the same data.',
    )
    .argument('<id>', 'the number of the analysis')
    .addOption(new Option('--judge <judge>', 'another judge').choices(['default', 'kayenta']))
    .option('--interval <n>', 'which interval (default: the last)')
    // As the flag was once called.
    .addOption(new Option('--look <n>').hideHelp())
    .addHelpText(
      'after',
      examples('tidegate analysis replay 17', 'tidegate analysis replay 17 --judge kayenta'),
    )
    .action(async (id: string, options: ReplayOptions) => {
      const { replayRun } = await import('./replay-run.js')
      session.exitCode = await replayRun(id, options, session.terminal)
    })
}
