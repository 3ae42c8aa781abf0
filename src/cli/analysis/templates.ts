import type { Command } from 'commander'

import { watchFiles } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addOutputOptions, examples } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import { addWatchOption } from '../session/watch.js'

/** `tidegate analysis templates FILE`: which templates the lines of a log have. */
export function defineTemplates(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(command))
    .summary('group the lines of a log by template')
    .description(
      'Groups the lines of a log by template, as the judge of logs does, and prints a table of the templates. Lines are plain text, where the lines of a stack trace are one event, or JSON objects with the text in "content". With --format json prints {"cluster": …, "template": …} for each line, in order.',
    )
    .argument('<file>', 'the log, one line or one JSON object a line, or - for standard input')
    .addHelpText(
      'after',
      examples(
        'tidegate analysis templates app.log',
        'kubectl logs deploy/shop | tidegate analysis templates - --format json',
      ),
    )
    .action(async (file: string, options: OutputOptions) => {
      await watchFiles(session, [file])
      const { listTemplates } = await import('./list-templates.js')
      session.exitCode = await listTemplates(file, options, session.terminal)
    })
}
