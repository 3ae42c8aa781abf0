import type { Command } from 'commander'
import { Argument, Option } from 'commander'

import { addPageOptions, addRangeOptions, timeOption } from '../session/list-options.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { addFormerFormOption, examples } from '../session/shared-options.js'
import { REPORT_FORMS } from './run-options.js'
import type { JudgementWord } from './feedback.js'
import type {
  FeedbackOptions,
  ListOptions,
  ReplayOptions,
  ReportOptions,
  ShowOptions,
  StartOptions,
} from './run-options.js'
import { addWatchOption } from '../session/watch.js'

const STATES = ['running', 'completed', 'cancelled']

/** `tidegate analysis list`: lists runs. */
export function defineList(command: Command, session: Session): void {
  addPageOptions(addRangeOptions(addWatchOption(addServiceOptions(command))))
    .summary('list analyses')
    .description('Lists the analyses of a running service, newest first.')
    .option('--application <name>', 'only this application')
    .option('--execution <id>', 'only this execution')
    .addOption(inAnyCase(new Option('--state <state>', 'only analyses in this state').choices(STATES)))
    .addHelpText('after', examples('tidegate analysis list', 'tidegate analysis list --application shop'))
    .action(async (options: ListOptions) => {
      const { listRuns } = await import('./query-runs.js')
      session.exitCode = await listRuns(options, session.terminal)
    })
}

/** `tidegate analysis show ID`: shows a run with its reasons. */
export function defineShow(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .summary('show an analysis and the reasons for its verdict')
    .description(
      'Shows an analysis: score, verdict, intervals, and every metric and log template with its reason.',
    )
    .argument('<id>', 'the number of the analysis')
    .option('--markdown', 'print a short Markdown summary for chat')
    .addHelpText('after', examples('tidegate analysis show 17', 'tidegate analysis show 17 --markdown'))
    .action(async (id: string, options: ShowOptions) => {
      const { showRun } = await import('./query-runs.js')
      session.exitCode = await showRun(id, options, session.terminal)
    })
}

/** `tidegate analysis report ID`: writes the report as HTML or PNG. */
export function defineReport(command: Command, session: Session): void {
  addFormerFormOption(addServiceOptions(command, REPORT_FORMS), REPORT_FORMS)
    .summary('write the report of an analysis as HTML or PNG')
    .description(
      'Writes the report of an analysis: a standalone HTML page, or a picture (PNG) for chat with verdict, reason and the most relevant chart.',
    )
    .argument('<id>', 'the number of the analysis')
    .option('-o, --output <file>', 'file to write (default: standard output)')
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

/** `tidegate analysis compare A B`: compares two runs. */
export function defineCompare(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .summary('compare two analyses')
    .description(
      'Shows each metric, log template and check of two analyses with its result and change, different results first. Exits with 1 if the second has a worse verdict or none.',
    )
    .argument('<first>', 'number of the first analysis')
    .argument('<second>', 'number of the second analysis')
    .addHelpText('after', examples('tidegate analysis compare 16 17'))
    .action(async (first: string, second: string, options: ServiceOptions) => {
      const { compareRuns } = await import('./compare-runs.js')
      session.exitCode = await compareRuns([first, second], options, session.terminal)
    })
}

/** `tidegate analysis start APPLICATION`: starts a run. */
export function defineStart(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('start an analysis')
    .description('Starts an analysis of an application by its definition. Flags override the definition.')
    .argument('<application>', 'the application')
    .option('--lifetime <minutes>', 'duration of the analysis')
    .option('--interval <minutes>', 'minutes between judgements')
    .option('--pass <score>', 'minimum score of a success, 0 to 100')
    .option('--marginal <score>', 'minimum score of a review, 0 to 100')
    .option('--execution <id>', 'execution that the analysis belongs to')
    .addOption(
      timeOption(
        '--canary-start <time>',
        'start of the canary, such as 2026-01-31T12:00, or 2h for two hours ago (default: now); intervals in the past are judged immediately',
      ),
    )
    .addOption(timeOption('--baseline-start <time>', 'start of the baseline (default: that of the canary)'))
    .option('--wait', 'wait for the end; exits with 1 unless it is a success')
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

/** Makes the choices of an option case-insensitive. */
function inAnyCase(option: Option): Option {
  const { parseArg } = option
  return option.argParser((text, before) => parseArg?.(text.toLowerCase(), before))
}

/** `tidegate analysis cancel ID`. */
export function defineCancel(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('cancel a running analysis')
    .description('Cancels a running analysis. One that has ended does not change.')
    .argument('<id>', 'the number of the analysis')
    .addHelpText('after', examples('tidegate analysis cancel 17'))
    .action(async (id: string, options: ServiceOptions) => {
      const { cancelRun } = await import('./query-runs.js')
      session.exitCode = await cancelRun(id, options, session.terminal)
    })
}

/** `tidegate analysis feedback ID JUDGEMENT`. */
export function defineFeedback(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('say whether a verdict was right')
    .description(
      'Stores whether the verdict of an ended analysis was right, a false alarm, or missed a change, in place of an earlier judgement. The trail records it.',
    )
    .argument('<id>', 'the number of the analysis')
    .addArgument(
      new Argument('<judgement>', 'how good the verdict was').choices(['right', 'false-alarm', 'missed']),
    )
    .option(
      '--metric <name>',
      'a metric that it is about; repeatable (default: those that caused the verdict)',
      (name: string, before: readonly string[]) => [...before, name],
      [],
    )
    .option('--comment <text>', 'why')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis feedback 17 right',
        'tidegate analysis feedback 17 false-alarm --metric latency --comment "cache was cold"',
      ),
    )
    .action(async (id: string, judgement: JudgementWord, options: FeedbackOptions) => {
      const { giveFeedback } = await import('./feedback.js')
      session.exitCode = await giveFeedback(id, judgement, options, session.terminal)
    })
}

/** `tidegate analysis precision APPLICATION`. */
export function definePrecision(command: Command, session: Session): void {
  addServiceOptions(addWatchOption(command))
    .summary('how often alarms were right, by metric')
    .description('Counts the judgements about the verdicts of an application, by metric.')
    .argument('<application>', 'the application')
    .addHelpText('after', examples('tidegate analysis precision shop'))
    .action(async (application: string, options: ServiceOptions) => {
      const { showPrecision } = await import('./feedback.js')
      session.exitCode = await showPrecision(application, options, session.terminal)
    })
}

/** `tidegate analysis replay ID`: judges stored data again. */
export function defineReplay(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('judge the stored data of an analysis again')
    .description(
      'Judges the stored data of an analysis again and compares the reports; with --judge, uses another judge for the same data.',
    )
    .argument('<id>', 'the number of the analysis')
    .addOption(new Option('--judge <judge>', 'another judge').choices(['default', 'kayenta']))
    .option('--interval <n>', 'number of the interval (default: the last)')
    // Former name of the flag.
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
