import { Option } from 'commander'
import type { Command } from 'commander'

import type { PlannedInterval } from '../../canary/index.js'
import { watchFiles, wrongUse } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addOutputOptions, examples } from '../session/shared-options.js'
import type { JudgeCommandOptions } from './judge-file.js'
import { addWatchOption } from '../session/watch.js'

const INTERVAL = /^(\d{1,6})\/(\d{1,6})$/

/** `tidegate analysis judge FILE`: metrics of a canary against those of its baseline. */
export function defineJudge(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(command))
    .summary('judge the metrics of a canary')
    .description(
      'Judges the metrics of one file: a canary config of Kayenta in which each metric also has "values": {"control": […], "experiment": […]}, null for a gap. Exits with 0 for a success, with 1 for a failure or a review, with 2 when it cannot be judged.',
    )
    .argument('<file>', 'the config with its values as JSON or YAML, or - for standard input')
    .addOption(
      new Option('--judge <judge>', 'which judge').choices(['default', 'kayenta']).default('default'),
    )
    .addOption(
      new Option(
        '--tolerance <share>',
        'the change that does not matter: a share of the baseline (default judge, 0.05) or of the change itself (kayenta, 0.25)',
      ).argParser((text: string) => share('--tolerance', text, true)),
    )
    .addOption(
      new Option('--confidence <share>', 'the confidence of an interval, 0.98 when not given').argParser(
        (text: string) => share('--confidence', text, false),
      ),
    )
    .addOption(
      new Option(
        '--interval <k/K>',
        'this is interval k of the K of a run, so that the error is spent over them',
      ).argParser(readInterval),
    )
    // As the flag was once called.
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
      const { judgeFile } = await import('./judge-file.js')
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
  throw wrongUse(`--interval must be a number and how many there are, as in 2/6, not '${text}'`)
}
